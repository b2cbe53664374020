/** Queries the participant for the contracts of an accept context. */
import type { JsonObject } from "@bufbuild/protobuf";
import {
  credential,
  holding,
  instrumentConfiguration,
  registrarService,
  transferRule,
} from "../../src/registry/utility/templates.js";
import { transferOffer } from "../../src/registry/utility/templates.js";
import type { Template } from "../registries/element.js";
import type { ParticipantContract, Participant } from "./participant-client.js";

/** Templates whose contracts are not referenced by id. */
const listedTemplates = [instrumentConfiguration, transferRule, registrarService, credential];

/** The contracts of an accept context, and candidates for the rest. */
export interface AcceptanceContracts {
  readonly offer: ParticipantContract;
  readonly lockedHolding: ParticipantContract | undefined;
  readonly others: (template: Template) => readonly ParticipantContract[];
}

export async function findByTemplate(
  participant: Participant,
  offerId: string,
): Promise<AcceptanceContracts | undefined> {
  const end = await participant.ledgerEnd();
  const all = await participant.createElement(end, [transferOffer, holding, ...listedTemplates]);
  const offer = all.find(({ contractId }) => contractId === offerId);
  const holdingId = offer === undefined ? undefined : readHoldingId(offer);
  const lockedHolding = all.find(({ contractId }) => contractId === holdingId);
  return offer === undefined ? undefined : { offer, lockedHolding, others: ofTemplate(all) };
}

/** Offer and holding by id, and in parallel one query by template for the rest: the fewest contracts that can be queried. */
export async function findById(participant: Participant, offerId: string): Promise<AcceptanceContracts | undefined> {
  const listing = participant.ledgerEnd().then((end) => participant.createElement(end, listedTemplates));
  const finding = participant.byId(offerId, transferOffer).then(async (offer) => {
    const holdingId = offer === undefined ? undefined : readHoldingId(offer);
    return { offer, lockedHolding: holdingId === undefined ? undefined : await participant.byId(holdingId, holding) };
  });
  const [others, { offer, lockedHolding }] = await Promise.all([listing, finding]);
  return offer === undefined ? undefined : { offer, lockedHolding, others: ofTemplate(others) };
}

function readHoldingId({ createArgument }: ParticipantContract): string | undefined {
  return ((createArgument["transfer"] as JsonObject)["inputHoldingCids"] as string[])[0];
}

function ofTemplate(all: readonly ParticipantContract[]): AcceptanceContracts["others"] {
  return ({ packageName, qualifiedName }) =>
    all.filter((one) => one.packageName === packageName && one.templateId.endsWith(`:${qualifiedName}`));
}
