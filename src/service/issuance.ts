import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { IssuanceChoice, IssuanceQuery } from "../registry/sdk/registry.js";
import { utilityContextReply, utilityFactoryReply } from "./context-reply.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** Offers and requests to mint and to burn, and both at once. Their paths name no registrar. */
export function issuances(executor: QueryExecutor): ServiceBinding[] {
  const create = async ({ holder, instrumentId }: GetCreateContextRequest | GetBurnRequestCreateContextRequest) => {
    const query = questionOf(instrumentId, [holder]);
    return utilityFactoryReply(await executor.executeUtility((utility, context) => utility.issuanceFactory(context, query)));
  };
  const context = async (choice: IssuanceChoice, contractId: string) => {
    const question = { registrar: undefined, contractId };
    return utilityContextReply(
      await executor.executeUtility((utility, context) => utility.issuanceContext(context, choice, question)),
    );
  };
  return [
    bind(MintService, {
      getMintOfferCreateContext: create,
      getMintOfferAcceptContext: ({ mintOfferId }) => context("mint-offer/accept", mintOfferId),
      getMintOfferRejectContext: ({ mintOfferId }) => context("mint-offer/reject", mintOfferId),
      getMintOfferCancelContext: ({ mintOfferId }) => context("mint-offer/cancel", mintOfferId),
      getMintRequestCreateContext: create,
      getMintRequestAcceptContext: ({ mintRequestId }) => context("mint-request/accept", mintRequestId),
      getMintRequestRejectContext: ({ mintRequestId }) => context("mint-request/reject", mintRequestId),
      getMintRequestCancelContext: ({ mintRequestId }) => context("mint-request/cancel", mintRequestId),
    }),
    bind(BurnService, {
      getBurnOfferCreateContext: create,
      getBurnOfferAcceptContext: ({ burnOfferId }) => context("burn-offer/accept", burnOfferId),
      getBurnOfferRejectContext: ({ burnOfferId }) => context("burn-offer/reject", burnOfferId),
      getBurnOfferCancelContext: ({ burnOfferId }) => context("burn-offer/cancel", burnOfferId),
      getBurnRequestCreateContext: create,
      getBurnRequestAcceptContext: ({ burnRequestId }) => context("burn-request/accept", burnRequestId),
      getBurnRequestRejectContext: ({ burnRequestId }) => context("burn-request/reject", burnRequestId),
      getBurnRequestCancelContext: ({ burnRequestId }) => context("burn-request/cancel", burnRequestId),
    }),
    bind(BurnMintInstructionService, {
      async getBurnMintFactory({ instrumentId, outputs }) {
        const holders = outputs.map(({ owner }) => owner);
        const query = questionOf(instrumentId, holders);
        return utilityFactoryReply(
          await executor.executeUtility((utility, context) => utility.burnMintFactory(context, query)),
        );
      },
    }),
  ];
}

/** Validation has seen to it that the instrument is there. */
function questionOf(instrument: InstrumentId | undefined, holders: readonly string[]): IssuanceQuery {
  return { registrar: instrument?.admin ?? "", instrumentId: instrument?.id ?? "", holders };
}
