import { AllocationService as V1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as V2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Choice } from "../registry/registry.js";
import { offer, type Offered } from "./handlers.js";
import { contextOf, factoryOf } from "./token-standard.js";

/** Allocations and their settlement, in both versions of the token standard. */
export function allocations(engine: Engine): Offered[] {
  const context = (choice: Choice) => (request: GetAllocationContextRequest) =>
    contextOf(engine, choice, request, request.allocationId);
  const out = {
    getAllocationWithdrawContext: context("allocation/withdraw"),
    getAllocationCancelContext: context("allocation/cancel"),
  };
  return [
    offer(V1, { ...out, getAllocationTransferContext: context("allocation/execute-transfer") }),
    offer(V2, { ...out, getSettlementFactory: factoryOf(engine, "settlementFactory") }),
  ];
}
