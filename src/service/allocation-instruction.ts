import { AllocationInstructionService as V1 } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
import type { GetAllocationInstructionContextRequest } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_pb.js";
import { AllocationInstructionService as V2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { ApiVersion, Choice } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import { executeChoiceContext, factoryHandler } from "./token-standard.js";

/** Allocation instructions, in versions 1 and 2 of the token standard. */
export function allocationInstructions(executor: QueryExecutor): ServiceBinding[] {
  const getAllocationFactory = (version: ApiVersion) => factoryHandler(executor, "allocationFactory", version);
  const contextHandler = (choice: Choice) => (request: GetAllocationInstructionContextRequest, recording?: Recording) =>
    executeChoiceContext(executor, choice, "v2", request, request.allocationInstructionId, recording);
  return [
    bind(V1, { getAllocationFactory: getAllocationFactory("v1") }),
    bind(V2, {
      getAllocationFactory: getAllocationFactory("v2"),
      getAllocationInstructionAcceptContext: contextHandler("allocation-instruction/accept"),
      getAllocationInstructionWithdrawContext: contextHandler("allocation-instruction/withdraw"),
    }),
  ];
}
