import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Choice } from "../registry/registry.js";
import { utilityChoiceContext } from "./answers.js";
import { offer, type Offered } from "./handlers.js";

/** Burn requests and burn offers. Their paths name no registrar. */
export function burns(engine: Engine): Offered[] {
  const context = async (choice: Choice, contractId: string) => {
    const question = { registrar: undefined, contractId };
    return utilityChoiceContext(await engine.ask((registry, scene) => registry.choiceContext(scene, choice, question)));
  };
  return [
    offer(BurnService, {
      getBurnRequestAcceptContext: ({ burnRequestId }) => context("burn-request/accept", burnRequestId),
      getBurnOfferCancelContext: ({ burnOfferId }) => context("burn-offer/cancel", burnOfferId),
    }),
  ];
}
