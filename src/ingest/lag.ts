/** How old the store is, and what follows from its age. */
import { Notifier } from "../util/async.js";

/** In milliseconds. */
export interface StalenessLimits {
  /** Past this age the service is not ready. */
  readonly unreadyAfter: number;
  /** Past this age requests are rejected. */
  readonly staleAfter: number;
}

/** In milliseconds. */
export interface LagLimits extends StalenessLimits {
  /** How long a request waits for the store to catch up. */
  readonly readWait: number;
}

export interface MirrorAge {
  /** Undefined before the first snapshot. */
  readonly offset: number | undefined;
  /** Milliseconds since the mirror was last known to equal the ledger; undefined if it never was. */
  readonly age: number | undefined;
}

/** Why requests cannot be answered; undefined if they can. */
export function staleReason({ offset, age }: MirrorAge, { staleAfter }: StalenessLimits): string | undefined {
  if (offset === undefined) return "no snapshot of the ledger has been taken yet";
  if (age === undefined) return "the ledger has not been reached yet: the age of the contracts is unknown";
  if (age <= staleAfter) return undefined;
  return `the ledger has not been reached for ${seconds(age)} s; answers from before would be stale`;
}

/** Why the service is not ready; undefined if it is. */
export function notReadyReason(status: MirrorAge, limits: StalenessLimits): string | undefined {
  const { age } = status;
  const reason = staleReason(status, limits);
  if (reason !== undefined || age === undefined || age <= limits.unreadyAfter) return reason;
  return `the ledger has not been reached for ${seconds(age)} s`;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);

/** An end of the ledger that was read. */
export interface LedgerEnd {
  readonly offset: number;
  /** By the monotonic clock. */
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
  #offset: number | undefined;
  #reads = 0;
  #reachedRead = 0;
  /** The confirmed ends that are not reached, in the order of their reads. While others write, new ones come all the time. */
  readonly #ends: (LedgerEnd & { readonly renewsAge: boolean })[] = [];
  #currentAt: number | undefined;
  #otherHistory: string | undefined;
  #reconnects = 0;
  readonly #moved = new Notifier();

  /** `clock` is monotonic, in milliseconds. `offset` is that of a store that can be resumed. */
  constructor(
    private readonly limits: StalenessLimits,
    private readonly clock: () => number,
    private readonly requestEnd: () => Promise<number>,
    offset?: number,
  ) {
    this.#offset = offset;
  }

  get status(): MirrorAge {
    const age = this.#currentAt === undefined ? undefined : this.clock() - this.#currentAt;
    return { offset: this.#offset, age };
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
    const [requestedAt, read] = [this.clock(), ++this.#reads];
    const offset = await this.requestEnd();
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
    return staleReason(this.status, this.limits);
  }

  notReadyReason(): string | undefined {
    return staleReason(this.status, this.limits) ?? this.#otherHistory ?? notReadyReason(this.status, this.limits);
  }

  /** Returns whether the store has reached any. */
  #reachEnds(): boolean {
    const offset = this.#offset;
    if (offset === undefined) return false;
    const ahead = this.#ends.findIndex((end) => end.offset > offset);
    const reached = this.#ends.splice(0, ahead < 0 ? this.#ends.length : ahead);
    for (const { read, requestedAt, renewsAge } of reached) {
      this.#reachedRead = Math.max(this.#reachedRead, read);
      if (renewsAge) this.#currentAt = Math.max(this.#currentAt ?? -Infinity, requestedAt);
    }
    return reached.length > 0;
  }
}
