import { AllocationInstructionService as V1 } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
import type { GetAllocationInstructionContextRequest } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_pb.js";
import { AllocationInstructionService as V2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Choice } from "../registry/registry.js";
import { offer, type Offered } from "./handlers.js";
import { contextOf, factoryOf } from "./token-standard.js";

/** Allocation instructions, in both versions of the token standard. */
export function allocationInstructions(engine: Engine): Offered[] {
  const getAllocationFactory = factoryOf(engine, "allocationFactory");
  const context = (choice: Choice) => (request: GetAllocationInstructionContextRequest) =>
    contextOf(engine, choice, request, request.allocationInstructionId);
  return [
    offer(V1, { getAllocationFactory }),
    offer(V2, {
      getAllocationFactory,
      getAllocationInstructionAcceptContext: context("allocation-instruction/accept"),
      getAllocationInstructionWithdrawContext: context("allocation-instruction/withdraw"),
    }),
  ];
}
