import { setTimeout as delay } from "node:timers/promises";
import { SingleFlight } from "../../util/single-flight.js";
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

/** An end of the ledger, and when it was requested. */
interface LedgerEnd {
  readonly offset: number;
  readonly requestedAt: number;
}

/**
 * Tracks the store's lag. On reaching a confirmed end of the ledger it counts as current at the time that end was
 * requested. An end is confirmed by the followed stream: on its own it may be that of a participant restored from a
 * backup, even if it has the same offset.
 */
export class LagTracker {
  readonly #limits: LagLimits;
  readonly #now: () => number;
  readonly #readEnd: SingleFlight<number | undefined>;
  #offset: number | undefined;
  #end: number | undefined;
  #confirmedEnd: LedgerEnd | undefined;
  #currentAt: number | undefined;
  #incompleteAfter = Infinity;
  #otherHistory: string | undefined;
  #reconnects = 0;
  #movement = new Movement();

  constructor(limits: LagLimits, now: () => number, ledgerEnd: () => Promise<number>) {
    this.#limits = limits;
    this.#now = now;
    this.#readEnd = new SingleFlight(() => this.#requestEnd(ledgerEnd));
  }

  get status(): LagStatus {
    const age = this.#currentAt === undefined ? undefined : this.#now() - this.#currentAt;
    return { offset: this.#offset, ledgerEnd: this.#end, age };
  }

  /**
   * The store is at an offset that the ledger has. It may be a lower one, after a snapshot of a restored ledger. A stream
   * of updates from there was open: it may still be refused.
   */
  reached(offset: number): void {
    this.#offset = offset;
    this.#otherHistory = undefined;
    this.#update();
    this.#movement.resolve();
    this.#movement = new Movement();
  }

  ledgerEndAt(offset: number): void {
    this.#end = offset;
  }

  /** The stream that the store follows has proved to be open after this end was read: both belong to one history. */
  confirm(offset: number, requestedAt: number): void {
    this.#end = offset;
    this.#confirmedEnd = { offset, requestedAt };
    this.#update();
  }

  /**
   * The store leaves out packages that the participant was found to lack. After this time it may have them, so the store
   * counts as current until then at the latest. Infinity if nothing is left out.
   */
  incompleteAfter(time: number): void {
    this.#incompleteAfter = time;
  }

  /** The ledger is not the one that the store has followed. Not ready until the store has reached the present one. */
  historyLost(reason: string): void {
    this.#confirmedEnd = undefined;
    this.#otherHistory = reason;
  }

  get otherHistory(): string | undefined {
    return this.#otherHistory;
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  streamLost(): void {
    this.#confirmedEnd = undefined;
    this.#reconnects++;
  }

  staleReason(): string | undefined {
    return staleReason(this.status, this.#limits);
  }

  notReadyReason(): string | undefined {
    return staleReason(this.status, this.#limits) ?? this.#otherHistory ?? notReadyReason(this.status, this.#limits);
  }

  /** See Freshness. Waits at most `readWait`. The mirror reports failures of the ledger. */
  async catchUp(offset: number): Promise<boolean> {
    const cancel = new AbortController();
    const expired = delay(this.#limits.readWait, EXPIRED, { signal: cancel.signal }).catch(() => EXPIRED);
    try {
      const target = await Promise.race([this.#readEnd.run(), expired]);
      while (typeof target === "number" && (this.#offset ?? -1) < target) {
        if ((await Promise.race([this.#movement.promise, expired])) === EXPIRED) break;
      }
      return (this.#offset ?? -1) > offset;
    } finally {
      cancel.abort();
    }
  }

  async #requestEnd(ledgerEnd: () => Promise<number>): Promise<number | undefined> {
    try {
      const end = await ledgerEnd();
      this.ledgerEndAt(end);
      return end;
    } catch {
      return undefined;
    }
  }

  #update(): void {
    const end = this.#confirmedEnd;
    if (end === undefined || this.#offset === undefined || this.#offset < end.offset) return;
    this.#currentAt = Math.max(this.#currentAt ?? 0, Math.min(end.requestedAt, this.#incompleteAfter));
  }
}

const EXPIRED = "expired";

class Movement {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
