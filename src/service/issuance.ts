/** What the services for minting and burning have in common. Their paths name no registrar. */
import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import type { QueryExecutor } from "./executor.js";
import type { Recording } from "./recorder.js";
import type { IssuanceChoice, IssuanceInstruction, IssuanceQuery } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function createHandler(executor: QueryExecutor, instruction: IssuanceInstruction) {
  return (request: GetCreateContextRequest | GetBurnRequestCreateContextRequest, recording?: Recording) => {
    const { holder, instrumentId } = request;
    const burned = "holdingContractIds" in request ? request.holdingContractIds : [];
    const query = issuanceQuery(instrumentId, [holder], burned);
    return executor.executeUtility(
      (utility, context) => utility.issuanceFactory(context, instruction, query),
      recording,
      ({ inputHoldings }, view) => inputHoldings?.issuanceFactory?.(view, query),
    );
  };
}

export function executeIssuanceContext(
  executor: QueryExecutor,
  choice: IssuanceChoice,
  contractId: string,
  recording?: Recording,
) {
  const query = { registrar: undefined, contractId };
  return executor.executeUtility((utility, context) => utility.issuanceContext(context, choice, query), recording);
}

/** Validation ensures that `instrument` is set. */
export function issuanceQuery(
  instrument: InstrumentId | undefined,
  holders: readonly string[],
  inputHoldings: readonly string[],
): IssuanceQuery {
  return { registrar: instrument?.admin ?? "", instrumentId: instrument?.id ?? "", holders, inputHoldings };
}

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

export function burnMintInstructions(executor: QueryExecutor): ServiceBinding[] {
  return [
    bind(BurnMintInstructionService, {
      getBurnMintFactory({ instrumentId, inputHoldingCids, outputs }, recording) {
        const holders = outputs.map(({ owner }) => owner);
        const query = issuanceQuery(instrumentId, holders, inputHoldingCids);
        return executor.executeUtility(
          (utility, context) => utility.burnMintFactory(context, query),
          recording,
          ({ inputHoldings: named }, view) => named?.burnMintFactory?.(view, query),
        );
      },
    }),
  ];
}
