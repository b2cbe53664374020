import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { IssuanceChoice } from "../registry/sdk/registry.js";
import { createHandler, executeIssuanceContext } from "./issuance.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function mints(executor: QueryExecutor): ServiceBinding[] {
  const context = (choice: IssuanceChoice, contractId: string, recording?: Recording) =>
    executeIssuanceContext(executor, choice, contractId, recording);
  return [
    bind(MintService, {
      getMintOfferCreateContext: createHandler(executor, "mint-offer"),
      getMintOfferAcceptContext: ({ mintOfferId }, recording) => context("mint-offer/accept", mintOfferId, recording),
      getMintOfferRejectContext: ({ mintOfferId }, recording) => context("mint-offer/reject", mintOfferId, recording),
      getMintOfferCancelContext: ({ mintOfferId }, recording) => context("mint-offer/cancel", mintOfferId, recording),
      getMintRequestCreateContext: createHandler(executor, "mint-request"),
      getMintRequestAcceptContext: ({ mintRequestId }, recording) =>
        context("mint-request/accept", mintRequestId, recording),
      getMintRequestRejectContext: ({ mintRequestId }, recording) =>
        context("mint-request/reject", mintRequestId, recording),
      getMintRequestCancelContext: ({ mintRequestId }, recording) =>
        context("mint-request/cancel", mintRequestId, recording),
    }),
  ];
}
