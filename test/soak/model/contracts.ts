/** The contracts of the soak, as the participant sends them and as a response has to disclose them. */
import type { JsonObject } from "../../../src/domain/json.js";
import { element, type Options, parties, payload, requirement, type Template } from "../../fixtures/elements.js";
import { creationOf } from "../../scripted-participant/elements.js";
import type { Creation } from "../../scripted-participant/ledger.js";

export const INSTRUMENTS = 6;
export const HOLDERS = 10;
/** Synchronizers: offers are created at HOME and some are reassigned to ABROAD. */
export const HOME = "sync-A";
export const ABROAD = "sync-B";

export const instrument = (index: number): string => `I${index}`;
export const holder = (index: number): string => `holder-${index}::1220`;

export type ModelContract = Creation & { readonly createdAt: string };

const BLOB_BYTES = 800;
const BEGIN = Date.UTC(2026, 0, 5, 9);
let count = 0;

/** Creates a contract with a unique id, blob and creation time. */
function createContract(template: Template, name: string, content: JsonObject): ModelContract {
  // The service distinguishes contract ids from names by their length.
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

export const needsCredentials = (index: number): boolean => index > 0;

const claimOf = (index: number): string => `holds=${instrument(index)}`;

export const factories = {
  factory: () => createContract("AllocationFactory", "factory", payload.service()),
  rule: () => createContract("TransferRule", "rule", payload.service()),
  reward: () => createContract("AppRewardConfiguration", "reward", payload.reward()),
  right: () => createContract("FeaturedAppRight", "right", payload.right()),
  service: (enableResultContracts: boolean | null) =>
    createContract("RegistrarService", "service", payload.service({ enableResultContracts })),
  configuration: (index: number) => {
    const holderRequirements = needsCredentials(index) ? [requirement([claimOf(index)])] : [];
    const content = payload.configuration(instrument(index), { holderRequirements });
    return createContract("InstrumentConfiguration", `configuration-${index}`, content);
  },
  credential: (holderIndex: number, index: number) =>
    createContract(
      "Credential",
      `credential-${holderIndex}-${index}`,
      payload.credential(holder(holderIndex), [claimOf(index)]),
    ),
  preapproval: (receiver: number, instruments: readonly number[]) =>
    createContract(
      "TransferPreapproval",
      `preapproval-${receiver}`,
      payload.preapproval(holder(receiver), instruments.map(instrument)),
    ),
  offer: (sender: number, receiver: number, index: number) => {
    const locked = createContract("Holding", "locked", payload.lockedHolding(holder(sender), instrument(index)));
    const content = payload.offer(holder(sender), holder(receiver), instrument(index), locked.contractId);
    return { locked, contract: createContract("TransferOffer", "offer", content) };
  },
  filler: () => createContract("Credential", "filler", payload.credential("nobody::1220", [])),
};

export const toDisclosedContract = (
  contract: ModelContract,
  synchronizerId: string,
  hasDebug: boolean,
): JsonObject => ({
  templateId: contract.templateId,
  contractId: contract.contractId,
  createdEventBlob: contract.createdEventBlob,
  synchronizerId,
  ...(hasDebug
    ? { debugPackageName: contract.packageName, debugPayload: contract.payload, debugCreatedAt: contract.createdAt }
    : {}),
});
