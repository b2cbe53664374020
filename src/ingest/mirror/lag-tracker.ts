/** How far the mirror has come, and whether it is recent enough to answer from. */
import { setTimeout as delay } from "node:timers/promises";
import { type StalenessLimits, staleReason, notReadyReason } from "../staleness.js";

/** In milliseconds. */
export interface LagLimits extends StalenessLimits {
  /** How long a request waits for a contract that the ledger may have and the mirror has not. */
  readonly readWait: number;
}

/** For whoever watches: how the mirror stands now. */
export interface LagStatus {
  /** Offset up to which the store equals the ledger; undefined before the first snapshot. */
  readonly offset: number | undefined;
  /** The ledger's end when it was last asked; undefined before. */
  readonly ledgerEnd: number | undefined;
  /** Milliseconds since the store was last known to equal the ledger's end; undefined where it never was. */
  readonly age: number | undefined;
}

/**
 * Keeps the account. The store is current at the moment at which the ledger's
 * end was asked for, once it has reached that end.
 */
export class LagTracker {
  readonly #limits: LagLimits;
  readonly #now: () => number;
  #offset: number | undefined;
  #end: { readonly offset: number; readonly asked: number } | undefined;
  #currentAt: number | undefined;
  #reconnects = 0;
  #movement = new Movement();
  /** The question for the ledger's end that is under way, and the one behind it. */
  #asking: Promise<number | undefined> | undefined;
  #next: Promise<number | undefined> | undefined;

  constructor(limits: LagLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get status(): LagStatus {
    const age = this.#currentAt === undefined ? undefined : this.#now() - this.#currentAt;
    return { offset: this.#offset, ledgerEnd: this.#end?.offset, age };
  }

  /** The store now stands at an offset; after a new snapshot of a restored ledger it may be a lower one. */
  reached(offset: number): void {
    this.#offset = offset;
    this.#judge();
    this.#movement.resolve();
    this.#movement = new Movement();
  }

  /** The ledger's end was `offset` for a question put at the time `asked`. */
  ledgerEndAt(offset: number, asked: number): void {
    this.#end = { offset, asked };
    this.#judge();
  }

  /** How often the stream of updates was lost, or could not be opened. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** The stream of updates was lost, and will be opened again. */
  streamLost(): void {
    this.#reconnects++;
  }

  /** Why requests cannot be answered; undefined where they can. */
  staleReason(): string | undefined {
    return staleReason(this.status, this.#limits);
  }

  /** Why the service is not ready; undefined where it is. */
  notReadyReason(): string | undefined {
    return notReadyReason(this.status, this.#limits);
  }

  /**
   * Waits until the store has reached what the ledger's end is now, for as long
   * as a request may wait, and says whether it has moved past `offset`. Never
   * throws: what is wrong with the ledger is for the mirror to tell.
   */
  async catchUp(offset: number, ledgerEnd: () => Promise<number>): Promise<boolean> {
    const cancel = new AbortController();
    const expired = delay(this.#limits.readWait, EXPIRED, { signal: cancel.signal }).catch(() => EXPIRED);
    try {
      const target = await Promise.race([this.#ask(ledgerEnd), expired]);
      while (typeof target === "number" && (this.#offset ?? -1) < target) {
        if ((await Promise.race([this.#movement.promise, expired])) === EXPIRED) break;
      }
      return (this.#offset ?? -1) > offset;
    } finally {
      cancel.abort();
    }
  }

  /**
   * The ledger's end by a question that is put from now on: the answer to one
   * under way may be older than what the caller has seen. All who come while one
   * is under way share the next.
   */
  #ask(ledgerEnd: () => Promise<number>): Promise<number | undefined> {
    if (this.#asking === undefined) {
      const asked = this.#now();
      this.#asking = ledgerEnd()
        .then((end) => {
          this.ledgerEndAt(end, asked);
          return end;
        })
        .catch(() => undefined)
        .finally(() => {
          this.#asking = undefined;
        });
      return this.#asking;
    }
    this.#next ??= this.#asking.then(() => {
      this.#next = undefined;
      return this.#ask(ledgerEnd);
    });
    return this.#next;
  }

  #judge(): void {
    if (this.#end === undefined || this.#offset === undefined || this.#offset < this.#end.offset) return;
    this.#currentAt = Math.max(this.#currentAt ?? 0, this.#end.asked);
  }
}

const EXPIRED = "expired";

/** A promise that is resolved from outside, by whoever moves the offset. */
class Movement {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}
