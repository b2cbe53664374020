import { retryDelay } from "./retry-delay.js";
import { inBatches } from "./in-batches.js";
import { StoreApplier, type StoreApplierOptions } from "./store-applier.js";
import { LedgerError } from "../../ledger/participant/errors.js";
import { IncidentLog } from "./incident-log.js";
import {
  checkHistory,
  checkOpen,
  streamEnded,
  type Ledger,
  type UpdateStream,
} from "../../ledger/participant/ledger.js";
import { takeSnapshot } from "../../ledger/participant/snapshot.js";

export interface MirrorOptions extends StoreApplierOptions {
  readonly ledger: Ledger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
  /** Waits; ends early, and does not throw, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Aborted when the mirror has to end. */
  readonly signal: AbortSignal;
}

/** How often one update may be unreadable before a snapshot is taken in its place. */
const UNREADABLE_LIMIT = 3;
/** An attempt that lasted this long was no failure, however it ended. */
const STEADY_MS = 30_000;
/** How many updates are applied in one step, where so many have come at once. */
const MOST_AT_ONCE = 100;
/** How often the ledger's end is looked at, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Keeps the store equal to the ledger: takes a snapshot, follows the updates,
 * and comes back from whatever goes wrong, while the store goes on serving what
 * it has.
 *
 * A participant that is restored from a backup cuts every connection, and may
 * give the same offsets to other updates. So the stream of updates is opened
 * before anything else is asked: while it lasts, all that is read is of one history.
 */
export class Mirror {
  readonly #parts: MirrorOptions;
  readonly #applier: StoreApplier;
  readonly #incidentLog: IncidentLog;
  #failures = 0;
  #unreadable = 0;

  constructor(parts: MirrorOptions) {
    this.#parts = parts;
    this.#applier = new StoreApplier(parts);
    this.#incidentLog = new IncidentLog(parts.log, parts.now);
  }

  /** Ends when the signal is aborted, and not before. */
  async run(): Promise<void> {
    await Promise.all([this.#keepFollowing(), this.#keepAsking()]);
  }

  async #keepFollowing(): Promise<void> {
    const { random, now, pause } = this.#parts;
    while (!this.#isOver()) {
      const begun = now();
      try {
        const { anchor } = this.#applier;
        // After a cut nothing tells a restored ledger from ours where we know no update of it.
        if (anchor?.updateId === undefined) await this.#beginAnew();
        else await this.#goOn(anchor.offset, anchor.updateId);
      } catch (error) {
        if (this.#isOver()) return;
        this.#parts.lag.streamLost();
        const failure = asLedgerError(error);
        this.#failures = now() - begun > STEADY_MS ? 1 : this.#failures + 1;
        // A token that has ended is no trouble yet: the next attempt brings a new one.
        if (failure.kind !== "denied" || this.#failures > 1) this.#incidentLog.begin(failure);
        this.#considerSnapshot(failure);
        await pause(retryDelay(failure.kind, this.#failures, random));
      }
    }
  }

  /** Asks for the ledger's end again and again, and fetches what the stream has not brought. */
  async #keepAsking(): Promise<void> {
    const { ledger, lag, now, pause } = this.#parts;
    let behind: number | undefined;
    while (!this.#isOver()) {
      await pause(POLL_MS);
      if (this.#isOver() || this.#applier.anchor === undefined) continue;
      try {
        const asked = now();
        const end = await ledger.ledgerEnd();
        lag.ledgerEndAt(end, asked);
        // An end that has not been reached a poll later may hold nothing for us, or be held up.
        if (behind !== undefined && this.#applier.confirmedOffset < behind) await this.#fetchUpTo(behind);
        behind = this.#applier.confirmedOffset < end ? end : undefined;
      } catch {
        // The following runs into the same trouble, and tells it.
        behind = undefined;
      }
    }
  }

  /** Takes a snapshot, and follows the updates behind it. */
  async #beginAnew(): Promise<never> {
    const { ledger, decoder, lag, log, now } = this.#parts;
    const asked = now();
    const end = await ledger.ledgerEnd();
    return this.#following(end, async (stream) => {
      const snapshot = await takeSnapshot(ledger, end, decoder, () => stream.isOver);
      await checkOpen(stream);
      await this.#applier.replace(snapshot, asked);
      lag.ledgerEndAt(end, asked);
      const contracts = snapshot.contracts.length;
      log.info({ offset: end, contracts, took: now() - asked }, "a snapshot of the ledger has been taken");
      this.#recovered();
    });
  }

  /** Follows the updates behind the one at which the store stands. */
  async #goOn(offset: number, updateId: string): Promise<never> {
    return this.#following(offset, async (stream) => {
      await checkHistory(this.#parts.ledger, offset, updateId);
      await checkOpen(stream);
    });
  }

  /** Opens a stream of updates, prepares the store for them, and applies them. */
  async #following(after: number, prepare: (stream: UpdateStream) => Promise<void>): Promise<never> {
    const updates = await this.#parts.ledger.updates(after);
    try {
      await prepare(updates);
      this.#applier.follow(updates);
      for await (const elements of inBatches(updates, MOST_AT_ONCE)) {
        await this.#applier.apply(elements, updates);
        this.#recovered();
      }
      throw streamEnded();
    } finally {
      this.#applier.unfollow();
      updates.close();
    }
  }

  /** Brings the store to an end of the ledger for sure, whatever the stream is doing. */
  async #fetchUpTo(end: number): Promise<void> {
    const { stream, confirmedOffset } = this.#applier;
    if (stream === undefined) return;
    const updates = await this.#parts.ledger.updates(confirmedOffset, end);
    try {
      // Where the stream was cut before this one was opened, this one may be of another history.
      if (!(await stream.answers())) return;
      for await (const elements of inBatches(updates, MOST_AT_ONCE)) await this.#applier.apply(elements, stream);
      this.#applier.confirm(end, stream);
    } finally {
      updates.close();
    }
  }

  #isOver(): boolean {
    return this.#parts.signal.aborted;
  }

  #recovered(): void {
    this.#failures = 0;
    this.#unreadable = 0;
    this.#incidentLog.end();
  }

  #considerSnapshot({ kind }: LedgerError): void {
    if (kind === "unreadable") this.#unreadable++;
    if (kind === "pruned" || kind === "ahead" || this.#unreadable >= UNREADABLE_LIMIT) {
      this.#applier.requireSnapshot();
      this.#unreadable = 0;
    }
  }
}

/** Whatever else is thrown comes from the store or from a defect; the mirror goes on all the same. */
function asLedgerError(error: unknown): LedgerError {
  if (error instanceof LedgerError) return error;
  return new LedgerError("lost", error instanceof Error ? error.message : String(error));
}
