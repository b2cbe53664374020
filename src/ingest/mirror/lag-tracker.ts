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

/**
 * Tracks the store's lag. On reaching an end of the ledger it counts as current at the time that end was requested,
 * if its history is known to be the ledger's: the end alone may be that of a participant restored from a backup.
 */
export class LagTracker {
  readonly #limits: LagLimits;
  readonly #now: () => number;
  readonly #readEnd: SingleFlight<number | undefined>;
  #offset: number | undefined;
  #end: { readonly offset: number; readonly requestedAt: number } | undefined;
  #currentAt: number | undefined;
  /** Whether a snapshot, an update or an open stream shows that the store's history is the ledger's. */
  #isConfirmed = false;
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
    return { offset: this.#offset, ledgerEnd: this.#end?.offset, age };
  }

  /** The ledger has brought the store to an offset. It may be a lower one, after a snapshot of a restored ledger. */
  reached(offset: number): void {
    this.#isConfirmed = true;
    this.resumedAt(offset);
  }

  /** The store will follow a stream from an offset that the ledger has. The participant may still refuse the stream. */
  resumedAt(offset: number): void {
    this.#offset = offset;
    this.#otherHistory = undefined;
    this.#update();
    this.#movement.resolve();
    this.#movement = new Movement();
  }

  /** The stream that the store follows has proved to be open. */
  confirm(): void {
    this.#isConfirmed = true;
    this.#update();
  }

  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  ledgerEndAt(offset: number, requestedAt: number): void {
    this.#end = { offset, requestedAt };
    this.#update();
  }

  /** The ledger is not the one that the store has followed. Not ready until the store has reached the present one. */
  historyLost(reason: string): void {
    this.#isConfirmed = false;
    this.#otherHistory = reason;
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  streamLost(): void {
    this.#isConfirmed = false;
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
    const requestedAt = this.#now();
    try {
      const end = await ledgerEnd();
      this.ledgerEndAt(end, requestedAt);
      return end;
    } catch {
      return undefined;
    }
  }

  #update(): void {
    if (!this.#isConfirmed || this.#end === undefined || this.#offset === undefined) return;
    if (this.#offset < this.#end.offset) return;
    this.#currentAt = Math.max(this.#currentAt ?? 0, this.#end.requestedAt);
  }
}

const EXPIRED = "expired";

class Movement {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
