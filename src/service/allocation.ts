import { AllocationService as V1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as V2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { Choice } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import { executeChoiceContext, factoryHandler } from "./token-standard.js";

/** Allocations and their settlement, in versions 1 and 2 of the token standard. */
export function allocations(executor: QueryExecutor): ServiceBinding[] {
  const contextHandler = (choice: Choice) => (request: GetAllocationContextRequest, recording?: Recording) =>
    executeChoiceContext(executor, choice, request, request.allocationId, recording);
  const shared = {
    getAllocationWithdrawContext: contextHandler("allocation/withdraw"),
    getAllocationCancelContext: contextHandler("allocation/cancel"),
  };
  return [
    bind(V1, { ...shared, getAllocationTransferContext: contextHandler("allocation/execute-transfer") }),
    bind(V2, { ...shared, getSettlementFactory: factoryHandler(executor, "settlementFactory", "v2") }),
  ];
}
