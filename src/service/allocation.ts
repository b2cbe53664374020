import { AllocationService as V1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as V2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { ApiVersion, Choice } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import { executeChoiceContext, factoryHandler } from "./token-standard.js";

/** Allocations and their settlement, in versions 1 and 2 of the token standard. */
export function allocations(executor: QueryExecutor): ServiceBinding[] {
  const contextHandler =
    (choice: Choice, version: ApiVersion) => (request: GetAllocationContextRequest, recording?: Recording) =>
      executeChoiceContext(executor, choice, version, request, request.allocationId, recording);
  const shared = (version: ApiVersion) => ({
    getAllocationWithdrawContext: contextHandler("allocation/withdraw", version),
    getAllocationCancelContext: contextHandler("allocation/cancel", version),
  });
  return [
    bind(V1, {
      ...shared("v1"),
      getAllocationTransferContext: contextHandler("allocation/execute-transfer", "v1"),
    }),
    bind(V2, { ...shared("v2"), getSettlementFactory: factoryHandler(executor, "settlementFactory", "v2") }),
  ];
}
