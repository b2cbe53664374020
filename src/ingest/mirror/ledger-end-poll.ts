import { LedgerError, type LedgerErrorKind } from "../../ledger/participant/errors.js";
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
/** Failures after which the next poll may succeed. After others, such as pruned updates, the stream has to be opened again. */
const TRANSIENT: ReadonlySet<LedgerErrorKind> = new Set(["busy", "lost", "denied"]);

/**
 * Reads the ledger's end every second. It fetches updates that the stream has not delivered, proves by a ping that the
 * stream is open on the history of that end, and notices an end that belongs to another history.
 */
export class LedgerEndPoll {
  readonly #applier: StoreApplier;
  readonly #options: LedgerEndPollOptions;
  /** The end that was not reached at the last poll. */
  #missing: number | undefined;
  /** The stream that was followed at the last poll. */
  #known: UpdateStream | undefined;
  /** The ping that is not answered yet. */
  #confirming: Promise<void> | undefined;

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
      } catch (error) {
        this.#missing = undefined;
        // The mirror meets the same failure on its stream and logs it, unless that stream is stuck.
        if (error instanceof LedgerError && !TRANSIENT.has(error.kind)) this.#applier.stream?.close();
      }
    }
    await this.#confirming;
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
    lag.ledgerEndAt(end);
    // A stream that the participant refuses is open for a moment, too.
    if (stream !== undefined && stream === this.#known) this.#ping(stream, end, requestedAt);
    this.#known = stream;
    // An end not reached one poll later: either it holds nothing for us, or the stream is stuck.
    if (this.#missing !== undefined && this.#applier.confirmedOffset < this.#missing)
      await this.#fetchUpTo(this.#missing);
    this.#missing = this.#applier.confirmedOffset < end ? end : undefined;
  }

  /** Not awaited by the poll: a stream without an answer must not delay the notice of a lower end. */
  #ping(stream: UpdateStream, end: number, requestedAt: number): void {
    this.#confirming ??= this.#confirm(stream, end, requestedAt).finally(() => {
      this.#confirming = undefined;
    });
  }

  /** The end alone may be of another history: a dead connection shows no cut. An answer to a later ping shows none. */
  async #confirm(stream: UpdateStream, end: number, requestedAt: number): Promise<void> {
    const isResponsive = await stream.isResponsive();
    if (isResponsive && stream === this.#applier.stream) this.#options.lag.confirm(end, requestedAt);
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
