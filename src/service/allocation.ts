import { AllocationService as V1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as V2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Choice } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import { contextOf, factoryOf } from "./token-standard.js";

/** Allocations and their settlement, in both versions of the token standard. */
export function allocations(executor: QueryExecutor): ServiceBinding[] {
  const context = (choice: Choice) => (request: GetAllocationContextRequest) =>
    contextOf(executor, choice, request, request.allocationId);
  const out = {
    getAllocationWithdrawContext: context("allocation/withdraw"),
    getAllocationCancelContext: context("allocation/cancel"),
  };
  return [
    bind(V1, { ...out, getAllocationTransferContext: context("allocation/execute-transfer") }),
    bind(V2, { ...out, getSettlementFactory: factoryOf(executor, "settlementFactory") }),
  ];
}
