import { errorMessage } from "../util/logger.js";
import { type CatchUpProgress, namesOf, type ReadAs } from "../domain/ledger.js";
import { checkHistory, checkOpen, type Ledger, streamEnded, type UpdateStream } from "../ledger/participant/client.js";
import { takeSnapshot } from "../ledger/participant/elements.js";
import { LedgerError } from "../ledger/participant/errors.js";
import { failsFor } from "../ledger/views.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import { Applier, type ApplierOptions, inBatches, Reopened } from "./applier.js";
import { CatchUp } from "./catch-up.js";
import { IncidentLog, retryDelay } from "./incidents.js";

export interface MirrorOptions extends Omit<ApplierOptions, "findMissing">, RetriesOptions {
  readonly ledger: Ledger;
  /** Milliseconds since 1970, for the time of a snapshot. No age depends on it. */
  readonly now: () => number;
  /** How long a request waits for the store to catch up, in milliseconds. */
  readonly readWait: number;
  /** Whether what is read may come after the start: until then failures are expected, and attempts are made each second. */
  readonly waits?: boolean;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** How an attempt ends, which decides on the next: where it begins, and when. */
type End =
  /** Updates that are pruned, of another history, or malformed again and again ask for a snapshot. */
  | LedgerError
  /** The mirror has closed the stream itself, for one of the present history, or of other packages or parties. */
  | Reopened
  /** While a snapshot was read, packages or parties came that neither it nor the stream has. */
  | OutdatedRequest;

class OutdatedRequest extends Error {}

/** After so many malformed messages in a row a snapshot replaces the update. */
const MAX_UNREADABLE = 3;
/** How often packages are looked for that the participant lacked or had not vetted, and parties to read as. */
const SEARCH_INTERVAL_MS = 30_000;
/** Between attempts while what is read is waited for. */
const WAIT_MS = 1_000;

/**
 * The mirror of a ledger: attempts to follow it, one after the other. Each opens the stream of updates first: a restored
 * participant cuts every connection and uses offsets again, so while the stream lasts, all reads see one history. Each batch of
 * updates moves the store. CatchUp fetches what the stream delivers late, and proves it open.
 */
export class Mirror {
  readonly #applier: Applier;
  readonly #incidentLog: IncidentLog;
  readonly #catchUp: CatchUp;
  readonly #retries: Retries;
  #unreadable = 0;
  #reportedMissing = "";
  /** The packages of the participant at the last look. */
  #packageIds: ReadonlySet<string> | undefined;
  /** Why the parties could not be asked for last; undefined if they could. */
  #partyFailure: string | undefined;

  constructor(private readonly options: MirrorOptions) {
    this.#applier = new Applier({ ...options, findMissing: () => this.#findMissing() });
    this.#incidentLog = new IncidentLog(
      options.log,
      options.clock,
      () => options.writer.checkpoint !== undefined,
      options.waits,
    );
    this.#retries = new Retries(options);
    this.#catchUp = new CatchUp(this.#applier, {
      ...options,
      // A stream that is open may still break at its first update: the row of failures goes on.
      onAccepted: () => this.#incidentLog.end(),
      onUnreadableEnd: (error) => this.#incidentLog.begin(error),
    });
  }

  /** As in Applier. */
  get lacking(): readonly string[] {
    return this.#applier.lacking;
  }

  /** See Freshness. */
  catchUp(): AsyncIterable<CatchUpProgress> {
    return this.#catchUp.wait();
  }

  /** Why the service is not ready; undefined if it is. */
  notReadyReason(): string | undefined {
    const reason = this.options.lag.notReadyReason();
    if (reason === undefined) return undefined;
    return [reason, this.#incidentLog.description].filter((part) => part !== undefined).join(": ");
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(): Promise<void> {
    const following = this.#retries.run(
      () => this.#follow(),
      (failures, error) => this.#ended(failures, asEnd(error)),
    );
    await Promise.all([following, this.#catchUp.run(), this.#lookOut()]);
  }

  /** An attempt. Meanwhile the store is served, until it is too old. */
  async #follow(): Promise<never> {
    // A participant ends the stream of a user whose rights change.
    await this.#findParties();
    const { offset = 0, updateId } = this.#applier.checkpoint ?? {};
    // Without the id of an update, a restored ledger cannot be detected after a cut.
    if (updateId === undefined) return this.#followSnapshot();
    return this.#followFrom(offset, async (stream) => {
      await checkHistory(this.options.ledger, offset, updateId);
      await checkOpen(stream);
    });
  }

  /** The stream begins at the ledger's end, and a snapshot of the contracts there replaces the store. */
  async #followSnapshot(): Promise<never> {
    const { ledger, decoder, lag, log, now, clock } = this.options;
    const asOf = now();
    // What is uploaded from now on is found, and may be what the snapshot lacks.
    await this.#findUploaded().catch(() => undefined);
    const end = await lag.readEnd();
    const { offset, requestedAt } = end;
    return this.#followFrom(offset, async (stream) => {
      const snapshot = await takeSnapshot(ledger, offset, decoder, () => stream.hasEnded);
      await checkOpen(stream);
      await this.#applier.replace(snapshot, asOf);
      // The stream was open after the end was read.
      lag.confirm(end);
      const contracts = snapshot.contracts.length;
      const { foreign } = snapshot;
      log.info({ offset, contracts, foreign, took: clock() - requestedAt }, "snapshot of the ledger loaded");
    });
  }

  /** Opens a stream of updates, prepares the store, then applies updates until the stream ends. Throws the End, or a defect. */
  async #followFrom(after: number, prepare: (stream: UpdateStream) => Promise<void>): Promise<never> {
    const { ledger } = this.options;
    const { missing, parties } = ledger;
    const updates = await ledger.updates(after);
    try {
      await prepare(updates);
      if (ledger.missing !== missing || ledger.parties !== parties) throw new OutdatedRequest();
      this.#warnOfMissing();
      this.#applier.follow(updates);
      for await (const elements of inBatches(updates)) {
        if (await this.#applier.apply(elements, updates)) this.#recovered();
      }
      throw streamEnded();
    } catch (error) {
      throw this.#applier.unfollow() ?? error;
    } finally {
      updates.close();
    }
  }

  /**
   * The stream has delivered an update, at which the next one can be opened. A snapshot alone ends no row of failures: a
   * stream that breaks right after each would have another taken at once, for ever.
   */
  #recovered(): void {
    this.#retries.recovered();
    this.#unreadable = 0;
    this.#incidentLog.end();
  }

  /** Decides on the next attempt. Returns when to make it; undefined for at once. */
  #ended(failures: number, end: End): number | undefined {
    const { ledger, lag, random, waits = false, writer } = this.options;
    lag.streamLost();
    if (end instanceof OutdatedRequest) return undefined;
    // One that goes on slows down.
    if (end instanceof Reopened) return retryDelay(new LedgerError("ahead", end.message), failures, random);
    const failure =
      end.kind === "incomplete" ? lacksAll([...ledger.missing, ...(end.details.missing ?? [])], end) : end;
    // The next attempt asks for less. The mirror before may have filled the store without that too.
    if (end.kind === "incomplete" && ledger.leaveOut(end)) {
      if (!this.#applier.hasFollowed) this.#applier.resume();
      return undefined;
    }
    if (failure.kind === "ahead") lag.historyLost(failure.message);
    // An expired token is not an incident: the next attempt uses a new one.
    if (failure.kind !== "denied" || failures > 1) this.#incidentLog.begin(failure);
    if (failure.kind === "unreadable") this.#unreadable++;
    if (failure.kind === "pruned" || failure.kind === "ahead" || this.#unreadable >= MAX_UNREADABLE) {
      this.#applier.requireSnapshot();
      this.#unreadable = 0;
    }
    const delay = retryDelay(failure, failures, random);
    return waits && writer.checkpoint === undefined ? Math.min(delay, WAIT_MS) : delay;
  }

  /** Once for each set of them, although the participant names them one by one. */
  #warnOfMissing(): void {
    const { ledger, log } = this.options;
    const missing = ledger.missing.join(", ");
    if (missing !== "" && missing !== this.#reportedMissing) {
      const hint = "upload them to the participant; they are looked for every 30 s";
      log.warn({ missing: ledger.missing, hint }, "the participant lacks packages: their contracts are not served");
    }
    this.#reportedMissing = missing;
  }

  async #lookOut(): Promise<void> {
    const { pause, signal } = this.options;
    for (await pause(SEARCH_INTERVAL_MS); !signal.aborted; await pause(SEARCH_INTERVAL_MS)) {
      try {
        await this.#findParties();
        await this.#findMissing();
      } catch (error) {
        // Other failures are met on the stream, and logged there.
        if (error instanceof LedgerError && error.kind === "no-parties") this.#applier.abandon(error);
      }
    }
  }

  /**
   * Looks for the packages that the participant lacked, or that were not vetted, or by which contracts implement an interface
   * since. Once it has one, a new snapshot reads its contracts: they may be older than the store's offset. Until then the service
   * follows the ledger without them.
   */
  async #findMissing(): Promise<void> {
    const { ledger, log } = this.options;
    const missing = ledger.missing.length === 0 ? [] : await ledger.findMissing();
    const found = [...missing, ...(await this.#findVetted()), ...(await this.#findUploaded())];
    if (found.length === 0) return;
    log.info({ found }, "the participant has packages that it lacked; a new snapshot is taken");
    ledger.include(missing);
    this.#takeSnapshot();
  }

  /**
   * Asks as which parties the participant is read now. Others than before need a new snapshot, as found packages do. If the
   * participant cannot be asked, those known before are kept. Throws LedgerError if there are none.
   */
  async #findParties(): Promise<void> {
    const { ledger, decoder, log } = this.options;
    let found: ReadAs;
    try {
      found = await ledger.findParties();
      this.#partyFailure = undefined;
    } catch (error) {
      if (ledger.parties === undefined || !(error instanceof LedgerError) || error.kind === "no-parties") throw error;
      const { kind, message: reason } = error;
      const isNew = this.#partyFailure !== reason;
      this.#partyFailure = reason;
      if (isNew)
        log.warn({ kind, reason }, "the rights of the token's user cannot be read: those known before are used");
      return;
    }
    const before = ledger.parties;
    // Always in the same order.
    if (before !== undefined && namesOf(before) === namesOf(found)) return;
    ledger.readAs(found);
    decoder.hasOwnWitnesses = found !== "any";
    if (before === undefined) {
      log.info({ parties: found }, "the token's user may read as these parties");
      this.#applier.resume();
      return;
    }
    log.info({ before, parties: found }, "the token's user may read as other parties; a new snapshot is taken");
    const lost = lostOf(before, found);
    if (lost.length > 0)
      this.#incidentLog.begin(new LedgerError("withdrawn", `it may no longer read as ${namesOf(lost)}`));
    this.#takeSnapshot();
  }

  /** Of what is asked for from now on, beside the store. */
  #takeSnapshot(): void {
    this.#applier.requireSnapshot();
    this.#applier.abandon(new Reopened());
  }

  /** The choices of the participant, see ViewFailure, that it would make otherwise now. */
  async #findVetted(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [choice, contractId] of this.#applier.unvetted) {
      const created = await this.options.ledger.creation(contractId);
      if (created === undefined || !failsFor(created, choice)) found.push(choice);
    }
    return found;
  }

  /** Packages since the last look. Contracts of an earlier version may implement an interface that a later one adds. */
  async #findUploaded(): Promise<readonly string[]> {
    const { ledger, decoder } = this.options;
    if (!decoder.readsViews) return [];
    const known = this.#packageIds;
    const ids = await ledger.packageIds();
    this.#packageIds = new Set(ids);
    return known === undefined ? [] : ids.filter((id) => !known.has(id));
  }
}

/** See Ingestor: a store is gone on with by those who read as the same parties, from a participant that lacks the same packages. */
export function originOf(readAs: ReadAs, lacking: readonly string[]): string {
  const parties = [readAs].flat().toSorted().join(", ");
  return `participant of ${parties}${lacking.length === 0 ? "" : ` without ${lacking.toSorted().join(", ")}`}`;
}

/** Those of the first that the second has not. */
function lostOf(before: ReadAs, found: ReadAs): ReadAs {
  if (found === "any") return [];
  return before === "any" ? before : before.filter((party) => !found.includes(party));
}

/** Any other error comes from the store or is a defect. The mirror retries it like a lost connection. */
function asEnd(error: unknown): End {
  const isEnd = error instanceof LedgerError || error instanceof Reopened || error instanceof OutdatedRequest;
  return isEnd ? error : new LedgerError("lost", errorMessage(error));
}

const lacksAll = (missing: readonly string[], { code }: LedgerError): LedgerError =>
  new LedgerError("incomplete", `it lacks ${missing.join(", ")}`, code, { missing });
