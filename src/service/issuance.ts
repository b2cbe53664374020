import type { GetBurnRequestCreateContextRequest } from "../../gen/offledger/burn/v0/burn_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MintService } from "../../gen/offledger/mint/v0/mint_service_pb.js";
import type { GetCreateContextRequest, InstrumentId } from "../../gen/offledger/utility/v0/factory_pb.js";
import type { Engine } from "../registry/engine.js";
import type { IssuanceChoice, IssuanceQuestion } from "../registry/registry.js";
import { utilityContextReply, utilityFactoryReply } from "./context-reply.js";
import { offer, type Offered } from "./handlers.js";

/** Offers and requests to mint and to burn, and both at once. Their paths name no registrar. */
export function issuances(engine: Engine): Offered[] {
  const create = async ({ holder, instrumentId }: GetCreateContextRequest | GetBurnRequestCreateContextRequest) => {
    const question = questionOf(instrumentId, [holder]);
    return utilityFactoryReply(await engine.askUtility((utility, scene) => utility.issuanceFactory(scene, question)));
  };
  const context = async (choice: IssuanceChoice, contractId: string) => {
    const question = { registrar: undefined, contractId };
    return utilityContextReply(
      await engine.askUtility((utility, scene) => utility.issuanceContext(scene, choice, question)),
    );
  };
  return [
    offer(MintService, {
      getMintOfferCreateContext: create,
      getMintOfferAcceptContext: ({ mintOfferId }) => context("mint-offer/accept", mintOfferId),
      getMintOfferRejectContext: ({ mintOfferId }) => context("mint-offer/reject", mintOfferId),
      getMintOfferCancelContext: ({ mintOfferId }) => context("mint-offer/cancel", mintOfferId),
      getMintRequestCreateContext: create,
      getMintRequestAcceptContext: ({ mintRequestId }) => context("mint-request/accept", mintRequestId),
      getMintRequestRejectContext: ({ mintRequestId }) => context("mint-request/reject", mintRequestId),
      getMintRequestCancelContext: ({ mintRequestId }) => context("mint-request/cancel", mintRequestId),
    }),
    offer(BurnService, {
      getBurnOfferCreateContext: create,
      getBurnOfferAcceptContext: ({ burnOfferId }) => context("burn-offer/accept", burnOfferId),
      getBurnOfferRejectContext: ({ burnOfferId }) => context("burn-offer/reject", burnOfferId),
      getBurnOfferCancelContext: ({ burnOfferId }) => context("burn-offer/cancel", burnOfferId),
      getBurnRequestCreateContext: create,
      getBurnRequestAcceptContext: ({ burnRequestId }) => context("burn-request/accept", burnRequestId),
      getBurnRequestRejectContext: ({ burnRequestId }) => context("burn-request/reject", burnRequestId),
      getBurnRequestCancelContext: ({ burnRequestId }) => context("burn-request/cancel", burnRequestId),
    }),
    offer(BurnMintInstructionService, {
      async getBurnMintFactory({ instrumentId, outputs }) {
        const holders = outputs.map(({ owner }) => owner);
        const question = questionOf(instrumentId, holders);
        return utilityFactoryReply(
          await engine.askUtility((utility, scene) => utility.burnMintFactory(scene, question)),
        );
      },
    }),
  ];
}

/** Validation has seen to it that the instrument is there. */
function questionOf(instrument: InstrumentId | undefined, holders: readonly string[]): IssuanceQuestion {
  return { registrar: instrument?.admin ?? "", instrumentId: instrument?.id ?? "", holders };
}
