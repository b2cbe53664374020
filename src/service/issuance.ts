import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { IssuanceChoice, IssuanceQuery } from "../registry/sdk/registry.js";
import { utilityContextReply, utilityFactoryReply } from "./context-reply.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** Offers and requests to mint and burn, and burning and minting at once. Their paths name no registrar. */
export function issuances(executor: QueryExecutor): ServiceBinding[] {
  const create = async ({ holder, instrumentId }: GetCreateContextRequest | GetBurnRequestCreateContextRequest) => {
    const query = issuanceQuery(instrumentId, [holder]);
    return utilityFactoryReply(
      await executor.executeUtility((utility, context) => utility.issuanceFactory(context, query)),
    );
  };
  const choiceContext = async (choice: IssuanceChoice, contractId: string) => {
    const query = { registrar: undefined, contractId };
    return utilityContextReply(
      await executor.executeUtility((utility, context) => utility.issuanceContext(context, choice, query)),
    );
  };
  return [
    bind(MintService, {
      getMintOfferCreateContext: create,
      getMintOfferAcceptContext: ({ mintOfferId }) => choiceContext("mint-offer/accept", mintOfferId),
      getMintOfferRejectContext: ({ mintOfferId }) => choiceContext("mint-offer/reject", mintOfferId),
      getMintOfferCancelContext: ({ mintOfferId }) => choiceContext("mint-offer/cancel", mintOfferId),
      getMintRequestCreateContext: create,
      getMintRequestAcceptContext: ({ mintRequestId }) => choiceContext("mint-request/accept", mintRequestId),
      getMintRequestRejectContext: ({ mintRequestId }) => choiceContext("mint-request/reject", mintRequestId),
      getMintRequestCancelContext: ({ mintRequestId }) => choiceContext("mint-request/cancel", mintRequestId),
    }),
    bind(BurnService, {
      getBurnOfferCreateContext: create,
      getBurnOfferAcceptContext: ({ burnOfferId }) => choiceContext("burn-offer/accept", burnOfferId),
      getBurnOfferRejectContext: ({ burnOfferId }) => choiceContext("burn-offer/reject", burnOfferId),
      getBurnOfferCancelContext: ({ burnOfferId }) => choiceContext("burn-offer/cancel", burnOfferId),
      getBurnRequestCreateContext: create,
      getBurnRequestAcceptContext: ({ burnRequestId }) => choiceContext("burn-request/accept", burnRequestId),
      getBurnRequestRejectContext: ({ burnRequestId }) => choiceContext("burn-request/reject", burnRequestId),
      getBurnRequestCancelContext: ({ burnRequestId }) => choiceContext("burn-request/cancel", burnRequestId),
    }),
    bind(BurnMintInstructionService, {
      async getBurnMintFactory({ instrumentId, outputs }) {
        const holders = outputs.map(({ owner }) => owner);
        const query = issuanceQuery(instrumentId, holders);
        return utilityFactoryReply(
          await executor.executeUtility((utility, context) => utility.burnMintFactory(context, query)),
        );
      },
    }),
  ];
}

/** Validation ensures that the instrument is set. */
function issuanceQuery(instrument: InstrumentId | undefined, holders: readonly string[]): IssuanceQuery {
  return { registrar: instrument?.admin ?? "", instrumentId: instrument?.id ?? "", holders };
}
