import { errorMessage } from "../../util/logger.js";
import type { CatchUpProgress } from "../../domain/ledger.js";
import { LedgerError } from "../../ledger/participant/errors.js";
import {
  checkHistory,
  checkOpen,
  type Ledger,
  streamEnded,
  type UpdateStream,
} from "../../ledger/participant/client.js";
import { takeSnapshot } from "../../ledger/participant/elements.js";
import { inBatches, MAX_BATCH } from "./in-batches.js";
import { IncidentLog, retryDelay } from "./incidents.js";
import { findMissingPackages, SEARCH_INTERVAL_MS } from "./missing-packages.js";
import { CatchUp } from "./catch-up.js";
import { StoreApplier, type StoreApplierOptions } from "./store-applier.js";

export interface MirrorOptions extends StoreApplierOptions {
  readonly ledger: Ledger;
  /** How long a request waits for the store to catch up, in milliseconds. */
  readonly readWait: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** After so many malformed messages in a row a snapshot replaces the update. */
const MAX_UNREADABLE = 3;
/** An attempt that lasted this long resets the backoff. */
const STEADY_MS = 30_000;

/**
 * Keeps the store equal to the ledger through every failure. A participant restored from a backup cuts every connection
 * and may reuse offsets. So the stream of updates is opened first: while it lasts, all reads see one history.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #applier: StoreApplier;
  readonly #incidentLog: IncidentLog;
  readonly #catchUp: CatchUp;
  #failures = 0;
  #unreadable = 0;
  #reportedMissing = "";

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#applier = new StoreApplier(options);
    this.#incidentLog = new IncidentLog(options.log, options.now);
    this.#catchUp = new CatchUp(this.#applier, {
      ...options,
      onAccepted: () => this.#recovered(),
      onUnreadableEnd: (error) => this.#incidentLog.begin(error),
    });
  }

  /** See Freshness. */
  catchUp(): AsyncIterable<CatchUpProgress> {
    return this.#catchUp.wait();
  }

  /** Why the service is not ready; undefined if it is. */
  notReadyReason(): string | undefined {
    const { lag, ledger } = this.#options;
    const reason = lag.notReadyReason();
    if (reason === undefined) return undefined;
    const lacks = ledger.missing.length === 0 ? undefined : `the participant lacks ${ledger.missing.join(", ")}`;
    return [reason, this.#incidentLog.description ?? lacks].filter((part) => part !== undefined).join(": ");
  }

  async run(): Promise<void> {
    await Promise.all([this.#followUpdates(), this.#catchUp.run(), findMissingPackages(this.#applier, this.#options)]);
  }

  async #followUpdates(): Promise<void> {
    const { random, now, pause } = this.#options;
    while (!this.#isStopped()) {
      const startedAt = now();
      try {
        const { checkpoint } = this.#applier;
        // Without the id of an update, a restored ledger cannot be detected after a cut.
        if (checkpoint?.updateId === undefined) await this.#startFromSnapshot();
        else await this.#resume(checkpoint.offset, checkpoint.updateId);
      } catch (error) {
        if (this.#isStopped()) return;
        this.#options.lag.streamLost();
        const left = this.#applier.takeLeft();
        if (left === "reopen" || error instanceof MissingFound) continue;
        let failure = left ?? asLedgerError(error);
        const { missing } = this.#options.ledger;
        if (this.#leaveOut(failure)) continue;
        if (failure.kind === "incomplete") failure = lacksAll([...missing, ...failure.missing], failure);
        if (failure.kind === "ahead") this.#options.lag.historyLost(failure.message);
        this.#failures = now() - startedAt > STEADY_MS ? 1 : this.#failures + 1;
        // An expired token is not an incident: the next attempt uses a new one.
        if (failure.kind !== "denied" || this.#failures > 1) this.#incidentLog.begin(failure);
        this.#requireSnapshotAfter(failure);
        await pause(retryDelay(failure, this.#failures, random));
      }
    }
  }

  async #startFromSnapshot(): Promise<never> {
    const { ledger, decoder, lag, log, now } = this.#options;
    const end = await lag.readEnd();
    const { offset, requestedAt } = end;
    return this.#follow(offset, async (stream, missing) => {
      const snapshot = await takeSnapshot(ledger, offset, decoder, () => stream.hasEnded);
      await checkOpen(stream);
      await this.#applier.replace(snapshot, requestedAt);
      if (missing.length === 0) lag.incompleteAfter(Infinity);
      // The stream was open after the end was read.
      lag.confirm(end);
      const contracts = snapshot.contracts.length;
      log.info({ offset, contracts, took: now() - requestedAt }, "snapshot of the ledger loaded");
      this.#recovered();
    });
  }

  async #resume(offset: number, updateId: string): Promise<never> {
    return this.#follow(offset, async (stream) => {
      await checkHistory(this.#options.ledger, offset, updateId);
      await checkOpen(stream);
    });
  }

  /** Opens a stream of updates, prepares the store, then applies updates until the stream fails. */
  async #follow(
    after: number,
    prepare: (stream: UpdateStream, missing: readonly string[]) => Promise<void>,
  ): Promise<never> {
    const { ledger } = this.#options;
    const { missing } = ledger;
    const updates = await ledger.updates(after);
    try {
      await prepare(updates, missing);
      // Neither the stream nor the snapshot has them.
      if (ledger.missing !== missing) throw new MissingFound();
      this.#warnOfMissing();
      this.#applier.follow(updates);
      for await (const elements of inBatches(updates, MAX_BATCH)) {
        await this.#applier.apply(elements, updates);
        this.#recovered();
      }
      throw streamEnded();
    } finally {
      this.#applier.unfollow();
      updates.close();
    }
  }

  /** Whether the next attempt asks for less, because the participant lacks a package. */
  #leaveOut(failure: LedgerError): boolean {
    const { ledger, lag, now } = this.#options;
    const hadAll = ledger.missing.length === 0;
    if (failure.kind !== "incomplete" || !ledger.leaveOut(failure)) return false;
    // For what is left out later, the earlier time holds too.
    if (hadAll) lag.incompleteAfter(now() + SEARCH_INTERVAL_MS);
    return true;
  }

  /** Once for each set of them, although the participant names them one by one. */
  #warnOfMissing(): void {
    const { ledger, log } = this.#options;
    const missing = ledger.missing.join(", ");
    if (missing !== "" && missing !== this.#reportedMissing) {
      const hint = "upload them to the participant; they are looked for every 30 s";
      log.warn({ missing: ledger.missing, hint }, "the participant lacks packages: their contracts are not served");
    }
    this.#reportedMissing = missing;
  }

  #isStopped(): boolean {
    return this.#options.signal.aborted;
  }

  #recovered(): void {
    this.#failures = 0;
    this.#unreadable = 0;
    this.#incidentLog.end();
  }

  #requireSnapshotAfter({ kind }: LedgerError): void {
    if (kind === "unreadable") this.#unreadable++;
    if (kind === "pruned" || kind === "ahead" || this.#unreadable >= MAX_UNREADABLE) {
      this.#applier.requireSnapshot();
      this.#unreadable = 0;
    }
  }
}

/** Any other error comes from the store or is a defect. The mirror retries it like a lost connection. */
function asLedgerError(error: unknown): LedgerError {
  return error instanceof LedgerError ? error : new LedgerError("lost", errorMessage(error));
}

const lacksAll = (missing: readonly string[], { code }: LedgerError): LedgerError =>
  new LedgerError("incomplete", `it lacks ${missing.join(", ")}`, code, { missing });

/** While a snapshot was read, packages came that neither it nor the stream has. */
class MissingFound extends Error {}
