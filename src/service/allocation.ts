import { AllocationService as V1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { GetAllocationContextRequest } from "../../gen/offledger/allocation/v1/allocation_pb.js";
import { AllocationService as V2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import type { GetFactoryRequest } from "../../gen/offledger/choice_context/v1/choice_context_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Choice } from "../registry/registry.js";
import { choiceContext } from "./answers.js";
import { offer, type Offered } from "./handlers.js";
import { contextOf, factoryQuestion } from "./token-standard.js";

/** Allocations and their settlement, in both versions of the token standard. */
export function allocations(engine: Engine): Offered[] {
  const settlement = async (request: GetFactoryRequest) => {
    const answer = await engine.ask((registry, scene) => registry.settlementFactory(scene, factoryQuestion(request)));
    return { factoryId: answer.factoryId, choiceContext: choiceContext(answer, request.excludeDebugFields) };
  };
  const context = (choice: Choice) => (request: GetAllocationContextRequest) =>
    contextOf(engine, choice, request, request.allocationId);
  return [
    offer(V1, { getAllocationWithdrawContext: context("allocation/withdraw") }),
    offer(V2, {
      getSettlementFactory: settlement,
      getAllocationCancelContext: context("allocation/cancel"),
    }),
  ];
}
