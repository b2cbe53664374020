/**
 * The log of a content: one mirror commits to it, any number of followers read it. It has the state of one generation, a
 * snapshot with the updates that follow it, and offsets grow in the order of commits. Every log has to pass
 * test/state/log-conformance.
 */
import type { BodyTexts, Contract } from "../domain/contract.js";
import type { Tally } from "../domain/template.js";
import type { LookupHash, Tag } from "./lookup-hash.js";

/** A committed state. */
export interface LogPosition {
  readonly generation: number;
  readonly offset: number;
  /** Of the update at the offset; undefined at the snapshot. */
  readonly updateId: string | undefined;
}

/** The state that the log serves, and what the mirror has last said of it. */
export interface LogHead extends LogPosition {
  /** The ledger that the state comes from, as an opaque string. Contracts of two origins are never the same. */
  readonly origin: string;
  /** Ledger time of the state, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
  /** Undefined before the first. */
  readonly heartbeat: Heartbeat | undefined;
  /** Why the ledger is not the one that the state comes from; undefined if it is not known. */
  readonly otherHistory: string | undefined;
  /** The snapshot that is served next. It is complete, and may yet be given up. Undefined if there is none. */
  readonly next: Snapshot | undefined;
}

/** The first state of a generation. */
export type Snapshot = Pick<LogHead, "generation" | "offset" | "origin" | "asOf">;

/** What the mirror's latest heartbeat has left in the log. Its times are of the log's clock, which may jump. */
export interface Heartbeat {
  /** How many were written up to it. A restored log has fewer. */
  readonly count: number;
  /** When it was written, in milliseconds. */
  readonly writtenAt: number;
  /** When the mirror last knew the state to equal the ledger, in milliseconds; undefined if it never did. */
  readonly confirmedAt: number | undefined;
  /** Milliseconds since `confirmedAt` at the time of the query. */
  readonly elapsed: number | undefined;
}

/** A contract that was active, or was not stored at all. */
export interface Tombstone {
  readonly contractId: string;
  /** The hash of its registrar; undefined if it was not stored. */
  readonly registrar: LookupHash | undefined;
  /** Of all lookups that its archival changes. */
  readonly tags: readonly Tag[];
}

export interface LoggedSum {
  /** The hash of its name. */
  readonly sum: LookupHash;
  readonly amount: bigint;
  /** As of the contracts that are only counted; undefined if none of them had one. */
  readonly tally?: Tally | undefined;
}

/** What has changed from one position to a later one. A contract that was archived and is active again is of both lists. */
export interface LogStep {
  readonly archived: readonly Tombstone[];
  /** Contracts that were created, assigned or unassigned, as they are at the later position. */
  readonly active: readonly Contract[];
  readonly sums: readonly LoggedSum[];
}

/** Where the log stands, seen from a position. */
export type LogProgress =
  /** Nothing has been committed. */
  | "empty"
  /** The step leads from the position to the head; it may have no changes. */
  | { readonly head: LogHead; readonly step: LogStep }
  /**
   * No step leads to the head: another generation is served, the log has other updates up to the position, what came after it
   * is no longer known, or it is more than MAX_STEP_ROWS.
   */
  | { readonly head: LogHead; readonly step: undefined };

export const MAX_STEP_ROWS = 20_000;

/** A contract, and the number of characters that a log has of it: of its id, its fields and index keys, and its time. */
export interface LoggedContract {
  readonly contract: Contract;
  readonly size: number;
}

/** The whole state at the head. Its iterables are read once, one after the other. */
export interface LoggedState {
  readonly head: LogHead;
  readonly contracts: AsyncIterable<LoggedContract>;
  /** The latest MAX_ARCHIVED_IDS, oldest first. */
  readonly archived: AsyncIterable<Pick<Tombstone, "contractId" | "registrar">>;
  readonly sums: AsyncIterable<LoggedSum>;
}

/** Bodies by contract id, and the position of the head in the same state. */
export interface FetchedBodies {
  readonly head: LogPosition | undefined;
  readonly bodies: ReadonlyMap<string, BodyTexts>;
}

/** Every method throws StoreUnavailable if the log cannot be read now. */
export interface StateLog {
  /** Reads, in one step, what has changed since a position; undefined for a follower without a state. */
  progress(since: LogPosition | undefined): Promise<LogProgress>;
  /**
   * Runs `use` on the state at the head, or on that of a generation, which is served or next. Nothing of it changes until `use`
   * has ended. It gets undefined if there is none. Ends soon when the signal is aborted: with StoreUnavailable.
   */
  load<T>(use: (state: LoggedState | undefined) => Promise<T>, signal: AbortSignal, generation?: number): Promise<T>;
  /**
   * The bodies of contracts of a generation; at most MAX_BODIES. At the head of that which is served, those of all active
   * contracts are there. Those of contracts that were archived lately, and of the generation before, are there for a while.
   */
  bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies>;
  /**
   * Tells of commits until no more notices will come: on abort, or when the connection is lost. Notices may be lost: read the
   * log once it listens, and from time to time.
   */
  listen(notices: LogNotices, signal: AbortSignal): Promise<void>;
  /** Asks the mirror to commit all that the ledger has from now on, and to notify `id` when it has. */
  requestCatchUp(id: string): Promise<void>;
}

export const MAX_BODIES = 500;

export interface LogNotices {
  /** Notices come from now on. */
  readonly listening: () => void;
  readonly committed: () => void;
  readonly caughtUp: (id: string) => void;
}
