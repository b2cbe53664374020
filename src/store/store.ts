/**
 * The contracts of a ledger as the rules ask for them. What reads them
 * (registry) and what writes them (ledger) meet only here, and every store owes
 * what this file says: see test/store for the promises as cases.
 */

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * A kind of contract that a registry knows. Package ids change with every
 * upgrade, so a kind is known by its package name and entity alone.
 */
export interface Template<F = unknown> {
  /** `Module:Entity`, for example `Utility.Registry.V0.Rule.Transfer:TransferRule`. */
  readonly qualifiedName: string;
  /** Name of the package, for example `utility-registry-v0`. */
  readonly packageName: string;
  /**
   * Reads what the rules need from the arguments that created a contract.
   * Returns undefined where no rule will ever ask for it: such a contract is
   * not kept. Throws an Error that names the field where the arguments are not
   * of this kind.
   */
  parse(payload: JsonObject): ParsedPayload<F> | undefined;
  /**
   * What a contract adds to a sum over all of them, also over those that are not
   * kept. Undefined for a kind that nothing is summed of. Called only where sums
   * are asked for; throws as `read` does.
   */
  supplyContribution?(payload: JsonObject): SupplyContribution;
}

/** What one contract adds to a sum. */
export interface SupplyContribution {
  /** Names the sum; made by `key`. */
  readonly sum: string;
  /** In the smallest unit, whichever that is for the sum. */
  readonly amount: bigint;
}

/** What a kind reads from the payload of a contract. */
export interface ParsedPayload<F> {
  /** The fields that the rules use. Data that nobody changes: where they are a plain object, a store may give a copy. */
  readonly fields: F;
  /** Every key under which the contract can be found; see `key`. */
  readonly indexKeys: readonly string[];
}

/** A contract that has been created and not archived. */
export interface Contract<F = unknown> {
  /** 138 hexadecimal characters or more, on a real ledger. */
  readonly contractId: string;
  readonly template: Template<F>;
  /** Fully qualified: `packageId:Module:Entity`. */
  readonly templateId: string;
  /** The arguments that created it, as the ledger encodes them: JSON text, which takes far less memory than its objects. */
  readonly payload: string;
  /** What `kind.read` made of the payload. */
  readonly fields: F;
  readonly indexKeys: readonly string[];
  /** Base64, unchanged as the ledger gave it. */
  readonly createdEventBlob: string;
  /** Ledger effective time of creation: RFC 3339 in UTC, as the ledger gave it. */
  readonly createdAt: string;
  /** `createdAt` in microseconds since 1970. */
  readonly createdMicros: number;
  /** Where it is assigned; undefined while it is between synchronizers. */
  readonly synchronizerId: string | undefined;
  /** Grows by one with each reassignment; 0 from creation to the first. */
  readonly reassignmentCounter: number;
  /** What it adds to a sum; undefined where nothing is summed. */
  readonly supply: SupplyContribution | undefined;
  /**
   * What was derived from it and is kept with it: undefined or empty until something is. Nobody touches it but
   * registry/derived.ts, and a store before it gives the contract to anybody.
   */
  slots: unknown[] | undefined;
}

/** A contract of which nothing is kept but what it adds to a sum. It cannot be found. */
export interface CountedOnly extends Pick<Contract, "contractId" | "synchronizerId" | "reassignmentCounter"> {
  readonly supply: SupplyContribution;
}

/** Contracts of one kind and package. */
export interface TemplateCount {
  readonly template: Template;
  readonly packageId: string;
  /** At least 1. */
  readonly count: number;
}

/** Asks for one contract by id, or for all that carry a key; of one kind. */
export type ContractLookup<F = unknown> =
  | { readonly template: Template<F>; readonly contractId: string }
  | { readonly template: Template<F>; readonly indexKey: string };

/**
 * One state of the store: everything read through it is of the same offset, and a
 * contract is one object, however it is asked for. It answers at once: a store
 * that has to fetch what is asked for throws from here, fetches it, and runs the
 * whole reading again, so whoever reads lets pass what is not an error of its
 * own. Such a store may throw StoreUnavailable.
 */
export interface View {
  /** The ledger offset of this state. */
  readonly offset: number;
  /** Time on the ledger of the latest change, in microseconds since 1970; undefined where the writer did not say. */
  readonly asOf: number | undefined;
  /** Whether it has to fetch what is asked for, and listens to what is foreseen: where not, it is not worth the while to say it. */
  readonly wantsPrefetch: boolean;
  /**
   * Says what will be looked for next, so that a store that has to fetch can
   * fetch all of it in one round trip. Answers do not depend on it; a store that
   * has everything at hand does not call the function.
   */
  prefetch(lookups: () => Iterable<ContractLookup>): void;
  /** The contract of that id. Undefined where there is none, or it is of another kind. */
  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined;
  /**
   * All contracts of the kind that carry the key: newest first by creation, those
   * created at the same time by ascending contract id, so that every replica
   * lists them alike.
   */
  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[];
  /** All contracts of a kind, in the same order. For start-up and checks; for requests only where the kind has few. */
  all<F>(template: Template<F>): readonly Contract<F>[];
  /**
   * Whether the contract is known to have been archived. False says nothing:
   * only the latest ARCHIVED_KEPT archivals are remembered.
   */
  wasArchived(contractId: string): boolean;
  /** How many contracts are held, by kind and package. In no order. */
  templateCounts(): readonly TemplateCount[];
  /** The sums by name, in the order of the names: of all shares, 0 where there are none. */
  sums(names: readonly string[]): readonly bigint[];
}

/** How many archivals a store remembers. */
export const MAX_ARCHIVED_IDS = 100_000;

/** What one event of the ledger does to a contract. */
export type Change =
  /** It is active on its synchronizer: created there, or assigned to it. */
  | { readonly active: Contract | CountedOnly }
  /** It has left its synchronizer and not arrived at another. */
  | { readonly unassigned: string; readonly reassignmentCounter: number }
  | { readonly archived: string };

/** The side of the store that rules see. */
export interface StoreReader {
  /**
   * Runs `use` on one state. It must read all that it reads before it returns,
   * and have no effects of its own: it may be run again from its beginning, and
   * on a later state. Answers at once where it has everything at hand. Throws
   * NotReady before the first state is there.
   */
  read<T>(use: (view: View) => T): T | Promise<T>;
}

/** The update at which a store stands: a history in which it stands at this place is ours up to here. */
export interface Checkpoint {
  readonly offset: number;
  /** Undefined until the first update behind a snapshot is applied. */
  readonly updateId: string | undefined;
}

/** The side of the store that the ledger feeds; nothing else may have it. */
export interface StoreWriter {
  /** Where the store stands, for whoever goes on from there. Undefined where a new state has to be put in place first. */
  readonly checkpoint: Checkpoint | undefined;
  /**
   * Puts a whole new state in place of the old, in one step: a reader sees the
   * one or the other. Throws, and keeps the old, where a contract id appears
   * twice. `asOf` is the time of the state, in microseconds since 1970.
   */
  replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf?: number): Promise<void>;
  /**
   * Applies the changes of one update, and moves the offset to its own, in one
   * step: a reader sees all of it or nothing. An update at or below the store's
   * offset changes nothing. Of events on the reassignment of one contract the
   * later by counter wins, in whatever order they come. `asOf` is the time of the
   * update, in microseconds since 1970; where it is not said the state keeps its
   * own. `updateId` is kept for `anchor`. Throws NotReady before the first state
   * is there.
   */
  apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void>;
}

/** There is no state to read yet. */
export class NotReady extends Error {
  constructor() {
    super("no snapshot of the ledger has been taken yet");
    this.name = "NotReady";
  }
}

/**
 * The store cannot answer now, and later may. The message is for the caller; the
 * store itself tells the operator more.
 */
export class StoreUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StoreUnavailable";
  }
}

/**
 * Makes a key from the name of an index and the values looked for. Each value
 * stands behind its length, so that no two lists of values give the same key
 * whatever characters they hold.
 */
export function indexKey(index: string, ...values: readonly string[]): string {
  return values.reduce((made, value) => `${made}/${value.length}:${value}`, index);
}

/** Whether a contract is held, or only counted. */
export function isStored(contract: Contract | CountedOnly): contract is Contract {
  return "kind" in contract;
}

/** The package of a template id, `packageId:Module:Entity`. */
export function packageIdOf(templateId: string): string {
  return templateId.split(":", 1)[0] ?? "";
}

/** Newest first by creation, then by contract id: the order a View answers in. */
export function newestFirst(a: Contract, b: Contract): number {
  if (a.createdMicros !== b.createdMicros) return b.createdMicros - a.createdMicros;
  return a.contractId < b.contractId ? -1 : a.contractId > b.contractId ? 1 : 0;
}

const utcTime = /^\d{4}-\d{2}-(\d{2})T(\d{2}):\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/** A time of the ledger, RFC 3339 in UTC, in microseconds since 1970; finer digits are cut. Throws where it is none. */
export function parseLedgerTime(time: string): number {
  const digits = utcTime.exec(time);
  const millis = digits === null ? Number.NaN : Date.parse(time);
  const [, day, hour, decimals = ""] = digits ?? [];
  // The 30th of February would be read as a day of March.
  if (Number.isNaN(millis) || new Date(millis).getUTCDate() !== Number(day) || hour === "24")
    throw new Error(`a time has to be like 2026-01-31T12:00:00.123456Z, and is ${time}`);
  const fraction = decimals.padEnd(6, "0").slice(0, 6);
  return Math.floor(millis / 1000) * 1_000_000 + Number(fraction);
}
