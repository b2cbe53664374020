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
    return utilityFactoryReply(
      await executor.executeUtility((utility, context) => utility.issuanceFactory(context, query)),
    );
  };
  const contextOf = async (choice: IssuanceChoice, contractId: string) => {
    const question = { registrar: undefined, contractId };
    return utilityContextReply(
      await executor.executeUtility((utility, context) => utility.issuanceContext(context, choice, question)),
    );
  };
  return [
    bind(MintService, {
      getMintOfferCreateContext: create,
      getMintOfferAcceptContext: ({ mintOfferId }) => contextOf("mint-offer/accept", mintOfferId),
      getMintOfferRejectContext: ({ mintOfferId }) => contextOf("mint-offer/reject", mintOfferId),
      getMintOfferCancelContext: ({ mintOfferId }) => contextOf("mint-offer/cancel", mintOfferId),
      getMintRequestCreateContext: create,
      getMintRequestAcceptContext: ({ mintRequestId }) => contextOf("mint-request/accept", mintRequestId),
      getMintRequestRejectContext: ({ mintRequestId }) => contextOf("mint-request/reject", mintRequestId),
      getMintRequestCancelContext: ({ mintRequestId }) => contextOf("mint-request/cancel", mintRequestId),
    }),
    bind(BurnService, {
      getBurnOfferCreateContext: create,
      getBurnOfferAcceptContext: ({ burnOfferId }) => contextOf("burn-offer/accept", burnOfferId),
      getBurnOfferRejectContext: ({ burnOfferId }) => contextOf("burn-offer/reject", burnOfferId),
      getBurnOfferCancelContext: ({ burnOfferId }) => contextOf("burn-offer/cancel", burnOfferId),
      getBurnRequestCreateContext: create,
      getBurnRequestAcceptContext: ({ burnRequestId }) => contextOf("burn-request/accept", burnRequestId),
      getBurnRequestRejectContext: ({ burnRequestId }) => contextOf("burn-request/reject", burnRequestId),
      getBurnRequestCancelContext: ({ burnRequestId }) => contextOf("burn-request/cancel", burnRequestId),
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
