import type { Ledger, UpdateStream } from "../../ledger/participant/ledger.js";
import { inBatches, MAX_BATCH } from "./in-batches.js";
import type { LagTracker } from "./lag-tracker.js";
import type { StoreApplier } from "./store-applier.js";

export interface LedgerEndPollOptions {
  readonly ledger: Ledger;
  readonly lag: LagTracker;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const POLL_MS = 1_000;

/**
 * Reads the ledger's end every second. It fetches updates that the stream has not delivered, proves that the stream of
 * a quiet ledger is open, and notices an end that belongs to another history.
 */
export class LedgerEndPoll {
  readonly #applier: StoreApplier;
  readonly #options: LedgerEndPollOptions;
  /** The end that was not reached at the last poll. */
  #missing: number | undefined;
  /** The stream that was followed at the last poll. */
  #known: UpdateStream | undefined;

  constructor(applier: StoreApplier, options: LedgerEndPollOptions) {
    this.#applier = applier;
    this.#options = options;
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isStopped()) {
      await this.#options.pause(POLL_MS);
      if (this.#isStopped() || this.#applier.checkpoint === undefined) continue;
      try {
        await this.#poll();
      } catch {
        // The mirror meets the same failure on its stream, and logs it.
        this.#missing = undefined;
      }
    }
  }

  #isStopped(): boolean {
    return this.#options.signal.aborted;
  }

  async #poll(): Promise<void> {
    const { ledger, lag, now } = this.#options;
    const { stream, confirmedOffset } = this.#applier;
    const requestedAt = now();
    const end = await ledger.ledgerEnd();
    // A snapshot of the present history may have been applied since the request.
    if (end < Math.min(confirmedOffset, this.#applier.confirmedOffset)) {
      lag.historyLost(`the ledger ends at offset ${end}, but offset ${confirmedOffset} has been applied`);
      // The mirror opens another, and checks the history or takes a new snapshot.
      stream?.close();
      return;
    }
    lag.ledgerEndAt(end, requestedAt);
    // A stream that the participant refuses is open for a moment, too.
    if (stream === this.#known) await this.#confirm(stream);
    this.#known = stream;
    // An end not reached one poll later: either it holds nothing for us, or the stream is stuck.
    if (this.#missing !== undefined && this.#applier.confirmedOffset < this.#missing)
      await this.#fetchUpTo(this.#missing);
    this.#missing = this.#applier.confirmedOffset < end ? end : undefined;
  }

  /** A quiet ledger sends nothing that shows that its stream is open. A ping does. */
  async #confirm(stream: UpdateStream | undefined): Promise<void> {
    const { lag } = this.#options;
    if (lag.isConfirmed || stream === undefined || !(await stream.isResponsive())) return;
    if (stream === this.#applier.stream) lag.confirm();
  }

  /** Fetches updates up to an offset by a second, finite stream. */
  async #fetchUpTo(end: number): Promise<void> {
    const { stream, confirmedOffset } = this.#applier;
    if (stream === undefined) return;
    const updates = await this.#options.ledger.updates(confirmedOffset, end);
    try {
      // If the followed stream was cut before this one opened, this one may be of another history.
      if (!(await stream.isResponsive())) return;
      for await (const elements of inBatches(updates, MAX_BATCH)) await this.#applier.apply(elements, stream);
      this.#applier.confirm(end, stream);
    } finally {
      updates.close();
    }
  }
}
