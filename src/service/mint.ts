import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { IssuanceChoice } from "../registry/sdk/registry.js";
import { createHandler, executeIssuanceContext } from "./issuance.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function mints(executor: QueryExecutor): ServiceBinding[] {
  const context = (choice: IssuanceChoice, contractId: string) => executeIssuanceContext(executor, choice, contractId);
  return [
    bind(MintService, {
      getMintOfferCreateContext: createHandler(executor, "mint-offer"),
      getMintOfferAcceptContext: ({ mintOfferId }) => context("mint-offer/accept", mintOfferId),
      getMintOfferRejectContext: ({ mintOfferId }) => context("mint-offer/reject", mintOfferId),
      getMintOfferCancelContext: ({ mintOfferId }) => context("mint-offer/cancel", mintOfferId),
      getMintRequestCreateContext: createHandler(executor, "mint-request"),
      getMintRequestAcceptContext: ({ mintRequestId }) => context("mint-request/accept", mintRequestId),
      getMintRequestRejectContext: ({ mintRequestId }) => context("mint-request/reject", mintRequestId),
      getMintRequestCancelContext: ({ mintRequestId }) => context("mint-request/cancel", mintRequestId),
    }),
  ];
}
