/** What accepting a transfer needs, out of contracts that have just been asked for. */
import type { JsonObject } from "@bufbuild/protobuf";
import { holding } from "../../src/registry/utility/templates/holding.js";
import { transferOffer } from "../../src/registry/utility/templates/instructions.js";
import { instrumentConfiguration } from "../../src/registry/utility/templates/instruments.js";
import { credential } from "../../src/registry/utility/templates/parties.js";
import {
  appRewardConfiguration,
  featuredAppRight,
  transferRule,
} from "../../src/registry/utility/templates/services.js";
import type { Template } from "../registries/element.js";
import type { Active, Participant } from "./participant-client.js";

/** The templates of which no id is known beforehand. */
const sought = [instrumentConfiguration, transferRule, appRewardConfiguration, featuredAppRight, credential];

/** All that one acceptance is made of, and the rest of what was asked for. */
export interface Found {
  readonly offer: Active;
  readonly held: Active | undefined;
  /** By template. */
  readonly others: (template: Template) => readonly Active[];
}

/** One list of everything: how it is where contracts are asked for by template and party alone. */
export async function findByTemplate(participant: Participant, offerId: string): Promise<Found | undefined> {
  const end = await participant.ledgerEnd();
  const all = await participant.active(end, [transferOffer, holding, ...sought]);
  const offer = all.find(({ contractId }) => contractId === offerId);
  const heldId = offer === undefined ? undefined : heldIn(offer);
  const held = all.find(({ contractId }) => contractId === heldId);
  return offer === undefined ? undefined : { offer, held, others: ofTemplate(all) };
}

/** Offer and holding by their ids, the rest in one list meanwhile: the least that can be asked for. */
export async function findById(participant: Participant, offerId: string): Promise<Found | undefined> {
  const listing = participant.ledgerEnd().then((end) => participant.active(end, sought));
  const finding = participant.byId(offerId, transferOffer).then(async (offer) => {
    const heldId = offer === undefined ? undefined : heldIn(offer);
    return { offer, held: heldId === undefined ? undefined : await participant.byId(heldId, holding) };
  });
  const [others, { offer, held }] = await Promise.all([listing, finding]);
  return offer === undefined ? undefined : { offer, held, others: ofTemplate(others) };
}

function heldIn({ createArgument }: Active): string | undefined {
  return ((createArgument["transfer"] as JsonObject)["inputHoldingCids"] as string[])[0];
}

function ofTemplate(all: readonly Active[]): Found["others"] {
  return ({ packageName, qualifiedName }) =>
    all.filter((one) => one.packageName === packageName && one.templateId.endsWith(`:${qualifiedName}`));
}
