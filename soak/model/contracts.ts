/** The contracts of the soak, as the participant tells them and as an answer has to disclose them. */
import type { JsonObject } from "../../src/domain/json.js";
import { element, type Options, parties, payload, requirement, type Template } from "../../test/fixtures/elements.js";
import { creationOf } from "../../scripted-participant/elements.js";
import type { Creation } from "../../scripted-participant/ledger.js";

export const INSTRUMENTS = 6;
export const HOLDERS = 10;
/** Where contracts are, and where some of them are moved to. */
export const HOME = "sync-A";
export const ABROAD = "sync-B";

export const instrument = (index: number): string => `I${index}`;
export const holder = (index: number): string => `holder-${index}::1220`;

export type Made = Creation & { readonly createdAt: string };

/** Real blobs have a kilobyte or so. */
const BLOB_BYTES = 800;
const BEGIN = Date.UTC(2026, 0, 5, 9);
let count = 0;

/** A contract with an id, a blob and a time of its own. */
function make(template: Template, name: string, content: JsonObject): Made {
  // As long as real ones, which the service tells from names by their length.
  const contractId = `${name}-${++count}`.padEnd(140, "x");
  const text = `blob of ${contractId};`;
  const blob = Buffer.from(text.repeat(Math.ceil(BLOB_BYTES / text.length))).toString("base64");
  const createdAt = new Date(BEGIN + count).toISOString().replace("Z", "417Z");
  const options: Options = { blob, createdAt };
  const { contractEntry } = element(template, contractId, content, options) as {
    contractEntry: { JsActiveContract: { createdEvent: JsonObject } };
  };
  const creation = creationOf(contractEntry.JsActiveContract.createdEvent, { stakeholders: [parties.operator] });
  return { ...creation, createdAt };
}

/** Of the first instrument no credentials are asked. */
export const needsCredentials = (index: number): boolean => index > 0;

const claimOf = (index: number): string => `holds=${instrument(index)}`;

export const makes = {
  factory: () => make("AllocationFactory", "factory", payload.service()),
  rule: () => make("TransferRule", "rule", payload.service()),
  reward: () => make("AppRewardConfiguration", "reward", payload.reward()),
  right: () => make("FeaturedAppRight", "right", payload.right()),
  service: (enableResultContracts: boolean | null) =>
    make("RegistrarService", "service", payload.service({ enableResultContracts })),
  configuration: (index: number) => {
    const holderRequirements = needsCredentials(index) ? [requirement([claimOf(index)])] : [];
    const content = payload.configuration(instrument(index), { holderRequirements });
    return make("InstrumentConfiguration", `configuration-${index}`, content);
  },
  credential: (who: number, index: number) =>
    make("Credential", `credential-${who}-${index}`, payload.credential(holder(who), [claimOf(index)])),
  /** Without instruments it allows every one. */
  preapproval: (receiver: number, instruments: readonly number[]) =>
    make(
      "TransferPreapproval",
      `preapproval-${receiver}`,
      payload.preapproval(holder(receiver), instruments.map(instrument)),
    ),
  offer: (sender: number, receiver: number, index: number) => {
    const locked = make("Holding", "locked", payload.lockedHolding(holder(sender), instrument(index)));
    const content = payload.offer(holder(sender), holder(receiver), instrument(index), locked.contractId);
    return { locked, made: make("TransferOffer", "offer", content) };
  },
  /** A contract that nobody asks for. */
  filler: () => make("Credential", "filler", payload.credential("nobody::1220", [])),
};

/** What an answer tells of a contract that it discloses. */
export const disclosed = (made: Made, synchronizerId: string, hasDebug: boolean): JsonObject => ({
  templateId: made.templateId,
  contractId: made.contractId,
  createdEventBlob: made.createdEventBlob,
  synchronizerId,
  ...(hasDebug
    ? { debugPackageName: made.packageName, debugPayload: made.payload, debugCreatedAt: made.createdAt }
    : {}),
});
