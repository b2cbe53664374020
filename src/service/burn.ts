import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { IssuanceChoice } from "../registry/sdk/registry.js";
import { createHandler, executeIssuanceContext } from "./issuance.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function burns(executor: QueryExecutor): ServiceBinding[] {
  const context = (choice: IssuanceChoice, contractId: string, recording?: Recording) =>
    executeIssuanceContext(executor, choice, contractId, recording);
  return [
    bind(BurnService, {
      getBurnOfferCreateContext: createHandler(executor, "burn-offer"),
      getBurnOfferAcceptContext: ({ burnOfferId }, recording) => context("burn-offer/accept", burnOfferId, recording),
      getBurnOfferRejectContext: ({ burnOfferId }, recording) => context("burn-offer/reject", burnOfferId, recording),
      getBurnOfferCancelContext: ({ burnOfferId }, recording) => context("burn-offer/cancel", burnOfferId, recording),
      getBurnRequestCreateContext: createHandler(executor, "burn-request"),
      getBurnRequestAcceptContext: ({ burnRequestId }, recording) =>
        context("burn-request/accept", burnRequestId, recording),
      getBurnRequestRejectContext: ({ burnRequestId }, recording) =>
        context("burn-request/reject", burnRequestId, recording),
      getBurnRequestCancelContext: ({ burnRequestId }, recording) =>
        context("burn-request/cancel", burnRequestId, recording),
    }),
  ];
}
