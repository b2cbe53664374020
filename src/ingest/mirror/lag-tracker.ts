import { Notifier } from "../../util/async.js";
import { notReadyReason, type StalenessLimits, staleReason } from "../staleness.js";

/** In milliseconds. */
export interface LagLimits extends StalenessLimits {
  /** How long a request waits for the store to catch up. */
  readonly readWait: number;
}

export interface LagStatus {
  /** Offset up to which the store equals the ledger; undefined before the first snapshot. */
  readonly offset: number | undefined;
  /** The ledger's end when it was last read; undefined before. */
  readonly ledgerEnd: number | undefined;
  /** Milliseconds since the store was last known to equal the ledger's end; undefined if it never was. */
  readonly age: number | undefined;
}

/** An end of the ledger that was read. */
export interface LedgerEnd {
  readonly offset: number;
  readonly requestedAt: number;
  /** Which read it was, counted from 1. */
  readonly read: number;
}

/** Enough for a minute of polls. */
const MAX_ENDS = 60;

/**
 * Tracks the store's lag. On reaching a confirmed end of the ledger it counts as current at the time that end was
 * requested. An end is confirmed by the followed stream: on its own it may be that of a participant restored from a
 * backup, even if it has the same offset.
 */
export class LagTracker {
  readonly #limits: StalenessLimits;
  readonly #now: () => number;
  readonly #requestEnd: () => Promise<number>;
  #offset: number | undefined;
  #ledgerEnd: number | undefined;
  #reads = 0;
  #reachedRead = 0;
  /** The confirmed ends that are not reached, in the order of their reads. While others write, new ones come all the time. */
  readonly #ends: (LedgerEnd & { readonly renewsAge: boolean })[] = [];
  #currentAt: number | undefined;
  #incompleteAfter = Infinity;
  #otherHistory: string | undefined;
  #reconnects = 0;
  readonly #moved = new Notifier();

  constructor(limits: StalenessLimits, now: () => number, requestEnd: () => Promise<number>) {
    this.#limits = limits;
    this.#now = now;
    this.#requestEnd = requestEnd;
  }

  get status(): LagStatus {
    const age = this.#currentAt === undefined ? undefined : this.#now() - this.#currentAt;
    return { offset: this.#offset, ledgerEnd: this.#ledgerEnd, age };
  }

  /** Resolves when the store has moved, or has reached an end. */
  get moved(): Promise<void> {
    return this.#moved.next;
  }

  /** How often the ledger's end was requested. */
  get reads(): number {
    return this.#reads;
  }

  /** Whether the store has all up to an end that was requested after so many others. */
  hasReachedEndAfter(reads: number): boolean {
    return this.#reachedRead > reads;
  }

  /** Reads the ledger's end. Throws LedgerError. */
  async readEnd(): Promise<LedgerEnd> {
    const [requestedAt, read] = [this.#now(), ++this.#reads];
    const offset = await this.#requestEnd();
    this.#ledgerEnd = offset;
    return { offset, requestedAt, read };
  }

  /**
   * The store is at an offset that the ledger has. It may be a lower one, after a snapshot of a restored ledger. A stream
   * of updates from there was open: it may still be refused.
   */
  reached(offset: number): void {
    this.#offset = offset;
    this.#otherHistory = undefined;
    this.#reachEnds();
    this.#moved.notify();
  }

  /**
   * The stream that the store follows has proved to be open after this end was read: both belong to one history.
   * `renewsAge` is false for a stream that the participant may still refuse.
   */
  confirm(end: LedgerEnd, renewsAge = true): void {
    // The oldest are reached first, and the newest counts most.
    if (this.#ends.length === MAX_ENDS) this.#ends.pop();
    this.#ends.push({ ...end, renewsAge });
    if (this.#reachEnds()) this.#moved.notify();
  }

  /**
   * The store leaves out packages that the participant was found to lack. After this time it may have them, so the store
   * counts as current until then at the latest, and as having reached no later end. Infinity if nothing is left out.
   */
  incompleteAfter(time: number): void {
    this.#incompleteAfter = time;
  }

  /** The ledger is not the one that the store has followed. Not ready until the store has reached the present one. */
  historyLost(reason: string): void {
    this.#ends.length = 0;
    this.#otherHistory = reason;
  }

  get otherHistory(): string | undefined {
    return this.#otherHistory;
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  streamLost(): void {
    this.#ends.length = 0;
    this.#reconnects++;
  }

  staleReason(): string | undefined {
    return staleReason(this.status, this.#limits);
  }

  notReadyReason(): string | undefined {
    return staleReason(this.status, this.#limits) ?? this.#otherHistory ?? notReadyReason(this.status, this.#limits);
  }

  /** Returns whether the store has reached any. */
  #reachEnds(): boolean {
    const offset = this.#offset;
    if (offset === undefined) return false;
    const ahead = this.#ends.findIndex((end) => end.offset > offset);
    const reached = this.#ends.splice(0, ahead < 0 ? this.#ends.length : ahead);
    for (const { read, requestedAt, renewsAge } of reached) {
      if (requestedAt <= this.#incompleteAfter) this.#reachedRead = Math.max(this.#reachedRead, read);
      if (renewsAge) this.#currentAt = Math.max(this.#currentAt ?? 0, Math.min(requestedAt, this.#incompleteAfter));
    }
    return reached.length > 0;
  }
}
