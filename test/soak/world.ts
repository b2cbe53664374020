/** The ledger of the soak and its model, which change together. */
import type { JsonObject } from "../../src/domain/json.js";
import { element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import { creationOf } from "../scripted-participant/elements.js";
import { type Creation, ScriptedLedger, type Step } from "../scripted-participant/ledger.js";

export const INSTRUMENTS = 6;
export const HOLDERS = 10;
/** Synchronizers: offers are created at HOME and some are reassigned to ABROAD. */
export const HOME = "sync-A";
export const ABROAD = "sync-B";

export const instrumentId = (index: number): string => `I${index}`;
export const holderParty = (index: number): string => `holder-${index}::1220`;

export type ModelContract = Creation & { readonly createdAt: string };

const BLOB_BYTES = 800;
const BEGIN = Date.UTC(2026, 0, 5, 9);
let contractCount = 0;

/** Creates a contract with a unique id, blob and creation time. */
function createContract(template: Template, name: string, content: JsonObject): ModelContract {
  // The service distinguishes contract ids from names by their length.
  const contractId = `${name}-${++contractCount}`.padEnd(140, "x");
  const text = `blob of ${contractId};`;
  const blob = Buffer.from(text.repeat(Math.ceil(BLOB_BYTES / text.length))).toString("base64");
  const createdAt = new Date(BEGIN + contractCount).toISOString().replace("Z", "417Z");
  const options: Options = { blob, createdAt };
  const { contractEntry } = element(template, contractId, content, options) as {
    contractEntry: { JsActiveContract: { createdEvent: JsonObject } };
  };
  const creation = creationOf(contractEntry.JsActiveContract.createdEvent, { stakeholders: [parties.operator] });
  return { ...creation, createdAt };
}

export const needsCredentials = (index: number): boolean => index > 0;

const claimOf = (index: number): string => `holds=${instrumentId(index)}`;

export const factories = {
  factory: () => createContract("AllocationFactory", "factory", payload.service()),
  rule: () => createContract("TransferRule", "rule", payload.service()),
  reward: () => createContract("AppRewardConfiguration", "reward", payload.reward()),
  right: () => createContract("FeaturedAppRight", "right", payload.right()),
  service: (enableResultContracts: boolean | null) =>
    createContract("RegistrarService", "service", payload.service({ enableResultContracts })),
  configuration: (index: number) => {
    const holderRequirements = needsCredentials(index) ? [requirement([claimOf(index)])] : [];
    const content = payload.configuration(instrumentId(index), { holderRequirements });
    return createContract("InstrumentConfiguration", `configuration-${index}`, content);
  },
  credential: (holderIndex: number, index: number) =>
    createContract(
      "Credential",
      `credential-${holderIndex}-${index}`,
      payload.credential(holderParty(holderIndex), [claimOf(index)]),
    ),
  preapproval: (receiver: number, instruments: readonly number[]) =>
    createContract(
      "TransferPreapproval",
      `preapproval-${receiver}`,
      payload.preapproval(holderParty(receiver), instruments.map(instrumentId)),
    ),
  offer: (sender: number, receiver: number, index: number) => {
    const locked = createContract("Holding", "locked", payload.lockedHolding(holderParty(sender), instrumentId(index)));
    const content = payload.offer(holderParty(sender), holderParty(receiver), instrumentId(index), locked.contractId);
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

interface Entry<T> {
  readonly offset: number;
  readonly value: T | undefined;
}

class Timeline<T> {
  readonly #entries = new Map<string, Entry<T>[]>();

  /** The offsets of a name must ascend. */
  set(name: string, offset: number, value: T | undefined): void {
    const entries = this.#entries.get(name);
    if (entries === undefined) this.#entries.set(name, [{ offset, value }]);
    else entries.push({ offset, value });
  }

  at(name: string, offset: number): T | undefined {
    return this.#entries.get(name)?.findLast((entry) => entry.offset <= offset)?.value;
  }

  /** The offsets after `after` and up to `upTo` at which a name changed. */
  changes(name: string, after: number, upTo: number): readonly number[] {
    const entries = this.#entries.get(name) ?? [];
    return entries.map(({ offset }) => offset).filter((offset) => offset > after && offset <= upTo);
  }

  /** Forgets values before an offset, and names that had none at it or later. */
  forget(before: number): void {
    for (const [name, entries] of this.#entries) {
      const first = entries.findLastIndex(({ offset }) => offset <= before);
      if (first > 0) entries.splice(0, first);
      if (entries.length === 1 && entries[0]?.value === undefined) this.#entries.delete(name);
    }
  }
}

export interface Offer {
  readonly contract: ModelContract;
  readonly locked: ModelContract;
  readonly sender: number;
  readonly receiver: number;
  readonly instrument: number;
  readonly location: "home" | "leaving" | "abroad";
}

/** A slot names something of which at most one contract is active. */
export const slots = {
  factory: "factory",
  rule: "rule",
  reward: "reward",
  right: "right",
  service: "service",
  configuration: (instrument: number): string => `configuration ${instrument}`,
  credential: (holder: number, instrument: number): string => `credential ${holder} ${instrument}`,
  preapproval: (holder: number): string => `preapproval ${holder}`,
};

/** Longer than a request takes and a response may be stale. */
const KEPT_MS = 150_000;
const MAX_ARCHIVED = 50;

export class World {
  readonly ledger = new ScriptedLedger({ synchronizerId: HOME });
  readonly contracts = new Timeline<ModelContract>();
  readonly offers = new Timeline<Offer>();
  readonly open = new Map<string, Offer>();
  readonly archived: Offer[] = [];
  readonly #commits: { readonly offset: number; readonly time: number }[] = [];
  readonly #isModelWrong: boolean;
  #offerCount = 0;

  /** A wrong model has another blob for some holdings, so the oracle reports right responses. */
  constructor(isModelWrong = false) {
    this.#isModelWrong = isModelWrong;
    this.replace(
      [slots.factory, factories.factory()],
      [slots.rule, factories.rule()],
      [slots.service, factories.service(true)],
    );
    this.replace([slots.reward, factories.reward()], [slots.right, factories.right()]);
    for (let instrument = 0; instrument < INSTRUMENTS; instrument++) {
      this.replace([slots.configuration(instrument), factories.configuration(instrument)]);
      for (let holder = 0; needsCredentials(instrument) && holder < HOLDERS; holder++) {
        this.replace([slots.credential(holder, instrument), factories.credential(holder, instrument)]);
      }
    }
  }

  get end(): number {
    return this.ledger.end;
  }

  /** The ledger end at a time by `performance.now()`; 0 for a time that is forgotten. */
  endAt(time: number): number {
    return this.#commits.findLast((commit) => commit.time <= time)?.offset ?? 0;
  }

  /** Archives the contract of each slot and creates its replacement, in one update. */
  replace(...changes: readonly (readonly [slot: string, contract: ModelContract | undefined])[]): void {
    const steps = changes.flatMap(([slot, contract]): Step[] => {
      const old = this.contracts.at(slot, this.end);
      return [...(old ? [{ archive: old.contractId }] : []), ...(contract ? [{ create: contract }] : [])];
    });
    const offset = this.#recordCommit(this.ledger.transact(steps, { synchronizerId: HOME }));
    for (const [slot, contract] of changes) this.contracts.set(slot, offset, contract);
  }

  createOffer(sender: number, receiver: number, instrument: number): void {
    const offer: Offer = {
      ...factories.offer(sender, receiver, instrument),
      sender,
      receiver,
      instrument,
      location: "home",
    };
    const steps = [{ create: offer.locked }, { create: offer.contract }];
    this.#setOffer(offer, this.ledger.transact(steps, { synchronizerId: HOME }));
  }

  archiveOffer({ contract, locked, ...offer }: Offer): void {
    const { contractId } = contract;
    const offset = this.#recordCommit(
      this.ledger.transact([{ archive: contractId }, { archive: locked.contractId }], {
        synchronizerId: offer.location === "abroad" ? ABROAD : HOME,
      }),
    );
    this.offers.set(contractId, offset, undefined);
    this.open.delete(contractId);
    this.archived.push({ ...offer, contract, locked });
    if (this.archived.length > MAX_ARCHIVED) this.archived.shift();
  }

  /** Unassigns an offer at home, or assigns one in transit to the other synchronizer. */
  reassign(offer: Offer): void {
    const ids = [offer.contract.contractId, offer.locked.contractId];
    if (offer.location === "home") this.#setOffer({ ...offer, location: "leaving" }, this.ledger.unassign(ids, ABROAD));
    else if (offer.location === "leaving") this.#setOffer({ ...offer, location: "abroad" }, this.ledger.assign(ids));
  }

  commitFillers(count: number): void {
    const fillers = Array.from({ length: count }, factories.filler);
    this.#recordCommit(this.ledger.transact(fillers.map((create) => ({ create }))));
    this.#recordCommit(this.ledger.transact(fillers.map(({ contractId: archive }) => ({ archive }))));
  }

  commitUnseen(): void {
    this.#recordCommit(this.ledger.elsewhere());
  }

  /** Forgets states that no response can show any more. */
  forget(): void {
    const before = performance.now() - KEPT_MS;
    const offset = this.endAt(before);
    this.contracts.forget(offset);
    this.offers.forget(offset);
    const first = this.#commits.findLastIndex(({ time }) => time <= before);
    if (first > 0) this.#commits.splice(0, first);
  }

  #setOffer(offer: Offer, offset: number): void {
    const isModelWrong = this.#isModelWrong && ++this.#offerCount % 5 === 0;
    const locked = isModelWrong ? { ...offer.locked, createdEventBlob: "another" } : offer.locked;
    this.offers.set(offer.contract.contractId, this.#recordCommit(offset), { ...offer, locked });
    this.open.set(offer.contract.contractId, offer);
  }

  #recordCommit(offset: number): number {
    this.#commits.push({ offset, time: performance.now() });
    return offset;
  }
}
