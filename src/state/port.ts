/**
 * A store holds one state: the contracts that are active at one ledger offset, their indexes, counts and sums, and the
 * ids of the latest archivals. A writer moves it from offset to offset, one atomic step at a time. Every store has to
 * pass test/state/conformance.
 */
import type { Change, Contract, CountedOnly, StoredContract } from "../domain/contract.js";
import { type Template, unreadableTemplate } from "../domain/template.js";
import type { Tag } from "./lookup-hash.js";

/** How many archived contract ids a store remembers. */
export const MAX_ARCHIVED_IDS = 100_000;

/** The side of the store that the registry has. All fields of all contracts are in memory: nothing here waits. */
export interface StoreReader {
  /** Runs `use` once, on one state. Throws what `use` throws, and NotReady if there is no state yet. */
  read<T>(use: (view: View) => T): T;
  /**
   * The ids of the contracts of a template, each once, in any order, to be read in many short steps: the state may move on
   * between two of them. Throws NotReady.
   */
  ids(template: Template): readonly string[];
  /** Absent where every contract that a view returns has its body. */
  readonly bodies?: BodySource | undefined;
}

/** Where the bodies of a view's contracts come from, if the contracts have none of their own. */
export interface BodySource {
  /** Whether contracts have their bodies, until the next turn. */
  has(contracts: readonly Contract[]): boolean;
  /**
   * Fetches the bodies of contracts of a state. Resolves with a function that gives them to the contracts, to be called right
   * before they are used: what is kept may be dropped at any time. Rejects with StoreUnavailable, and with StateMovedOn if one
   * is gone with its state.
   */
  take(contracts: readonly Contract[], state: Pick<Position, "generation" | "offset">): Promise<() => void>;
  /** To be called after bodies were used, since their encodings are kept with them. */
  used(contracts: readonly Contract[]): void;
  /** Brings the store to the state that comes after the one of StateMovedOn. Rejects with StoreUnavailable. */
  moveOn(): Promise<void>;
}

/** The state that contracts come from has been replaced where their bodies are: read again. */
export class StateMovedOn extends Error {
  constructor() {
    super("the state has moved on while the bodies of its contracts were fetched");
    this.name = "StateMovedOn";
  }
}

/** One state of the store, valid only while `use` runs. Every read of a contract returns the same object. */
export interface View {
  /** Identifies the snapshot that the state comes from. Offsets are comparable within one generation only. */
  readonly generation: string;
  readonly offset: number;
  /** Ledger time of the latest change, in microseconds since 1970. Undefined if the writer did not give one. */
  readonly asOf: number | undefined;
  /** The contract with this id. Undefined if it does not exist or belongs to another template. */
  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined;
  /** All contracts of the template with this index key, in the order of `newestFirst`, equal on every follower. */
  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[];
  /** All contracts of the template, in the same order. For start-up and checks; in requests only if there are few. */
  all<F>(template: Template<F>): readonly Contract<F>[];
  /**
   * Whether the contract is known to be archived, and with `registrar`, to have been one of that registrar. False is no
   * proof: only the latest MAX_ARCHIVED_IDS are kept, and of contracts that were not stored no registrar is known.
   */
  wasArchived(contractId: string, registrar?: string): boolean;
  /** How many contracts are stored, by template and package, in any order. Pairs without contracts are absent. */
  templateCounts(): readonly TemplateCount[];
  /** The names of a group that contracts have, each once, ascending: see `Template.tally`. */
  tallied(group: string): readonly string[];
  /** The sums with these names, in the same order. 0 for a sum to which nothing contributes. */
  sums(names: readonly string[]): readonly bigint[];
}

/**
 * Whether there are contracts of the template that could not be parsed, or with an id, whether it is of one of them. Then
 * not to find a contract is no proof that it does not exist.
 */
export function hasUnreadable(view: View, template: Template, contractId?: string): boolean {
  const unreadable = unreadableTemplate(template);
  if (contractId !== undefined) return view.byId(unreadable, contractId) !== undefined;
  return view.byKey(unreadable, unreadable.indexKey).length > 0;
}

/** The number of stored contracts of one template and package. */
export interface TemplateCount {
  readonly template: Template;
  readonly packageId: string;
  /** At least 1. */
  readonly count: number;
}

/** Where a store is: a state is identified by generation and offset. */
export interface Position {
  readonly generation: string;
  readonly offset: number;
  /** As in View. */
  readonly asOf: number | undefined;
}

/** What a step from one state to the next has changed. A step may stand for several updates. */
export interface LoggedChange {
  /** Of the state after the step. */
  readonly offset: number;
  readonly asOf: number | undefined;
  /** The tags of all lookups whose results have changed, and of the registrars of the contracts. Not empty. */
  readonly tags: ReadonlySet<Tag>;
}

/** The changes of a store, for streams. */
export interface ChangeFeed {
  /** Undefined before the first state. */
  readonly position: Position | undefined;
  /** The changes after a position, oldest first. Undefined if they are not known: everything may have changed. */
  since(position: Position): readonly LoggedChange[] | undefined;
  /** Calls `listener`, which must not throw, after each change of the state, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** What a store is filled with: one after the other, since all together may be larger than the memory. */
export type Contracts = Iterable<StoredContract | CountedOnly> | AsyncIterable<StoredContract | CountedOnly>;

/** The side of the store that only ingest has. */
export interface StoreWriter {
  /** Where to resume. Undefined if a complete state must be loaded first. */
  readonly checkpoint: Checkpoint | undefined;
  /**
   * Replaces the whole state in one step: a reader sees the old state or the new one. Keeps the old state and throws an
   * Error if a contract id appears twice, else what the contracts throw. `asOf` is the ledger time of the state, in
   * microseconds since 1970.
   */
  replace(contracts: Contracts, offset: number, asOf?: number): Promise<void>;
  /**
   * Applies the changes of one update and moves to its offset in one step: a reader sees all of them or none.
   * - Idempotent: an update at or below the offset of the store changes nothing.
   * - A change to an unknown contract is no error.
   * - Of the reassignments of a contract, the one with the highest counter wins, in any order of arrival.
   *
   * `asOf` is the ledger time of the update, in microseconds since 1970; without it the state keeps its own. `updateId`
   * is kept for `checkpoint`. Throws NotReady if there is no state yet.
   */
  apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void>;
}

/** The latest update in the store. A ledger with the same update at this offset shares its history with the store. */
export interface Checkpoint {
  readonly offset: number;
  /** Undefined until the first update after a snapshot is applied. */
  readonly updateId: string | undefined;
}

export class NotReady extends Error {
  constructor() {
    super("no snapshot of the ledger has been taken yet");
    this.name = "NotReady";
  }
}

/** What the store has elsewhere cannot be read now; a retry may succeed. The message is for the caller, the cause for the operator. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}
