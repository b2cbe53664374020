import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { IssuanceChoice } from "../registry/sdk/registry.js";
import { createHandler, executeIssuanceContext } from "./issuance.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function burns(executor: QueryExecutor): ServiceBinding[] {
  const context = (choice: IssuanceChoice, contractId: string) => executeIssuanceContext(executor, choice, contractId);
  return [
    bind(BurnService, {
      getBurnOfferCreateContext: createHandler(executor, "burn-offer"),
      getBurnOfferAcceptContext: ({ burnOfferId }) => context("burn-offer/accept", burnOfferId),
      getBurnOfferRejectContext: ({ burnOfferId }) => context("burn-offer/reject", burnOfferId),
      getBurnOfferCancelContext: ({ burnOfferId }) => context("burn-offer/cancel", burnOfferId),
      getBurnRequestCreateContext: createHandler(executor, "burn-request"),
      getBurnRequestAcceptContext: ({ burnRequestId }) => context("burn-request/accept", burnRequestId),
      getBurnRequestRejectContext: ({ burnRequestId }) => context("burn-request/reject", burnRequestId),
      getBurnRequestCancelContext: ({ burnRequestId }) => context("burn-request/cancel", burnRequestId),
    }),
  ];
}
