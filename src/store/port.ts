/**
 * What a store promises. The registry reads through a StoreReader; only ingest
 * has a StoreWriter. test/store/conformance.ts holds every store to this file.
 */
import type { Change } from "../domain/change.js";
import type { Contract, CountedOnly } from "../domain/contract.js";
import type { Template } from "../domain/template.js";

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
