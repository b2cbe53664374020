import { Notifier } from "../util/async.js";
import type { CatchUpProgress } from "../domain/ledger.js";
import type { Ledger, UpdateStream } from "../ledger/participant/client.js";
import { LedgerError, type LedgerErrorKind } from "../ledger/participant/errors.js";
import type { Logger } from "../util/logger.js";
import type { RetriesOptions } from "../util/retries.js";
import { type Applier, inBatches, Reopened } from "./applier.js";
import type { LagTracker, LedgerEnd } from "./lag.js";

export interface CatchUpOptions extends RetriesOptions {
  readonly ledger: Ledger;
  readonly lag: LagTracker;
  readonly log: Logger;
  /** How long a request waits, in milliseconds. */
  readonly readWait: number;
  /** Called when the participant is known to have accepted the followed stream, and it is open. */
  readonly onAccepted: () => void;
  /** Called when the end cannot be read although a stream is open, which may deliver nothing for a long time. */
  readonly onUnreadableEnd: (error: LedgerError) => void;
}

/** An end to be reached, and the stream that was followed before it was read. */
interface Target {
  readonly end: LedgerEnd;
  readonly stream: UpdateStream;
  /** Whether the participant has accepted the request of the stream. One that it refuses is open for a moment, too. */
  readonly isAccepted: boolean;
  /** Whether the stream itself delivers what is left. */
  readonly isBacklog: boolean;
}

const POLL_MS = 1_000;
/** A token that is renewed, or a restart of the participant's API, may fail a few polls. */
const REPORTED_READS = 3;
/** Before another attempt for requests that wait. */
const RETRY_MS = 100;
/** A longer fetch is ended. The next goes on where it stopped. */
const MAX_FETCH_MS = 5_000;
/** Failures after which the next poll may succeed. After others, such as pruned updates, the stream has to be opened again. */
const TRANSIENT: ReadonlySet<LedgerErrorKind> = new Set(["busy", "internal", "lost", "denied"]);

/**
 * Brings the store to the ledger's end: every second, and at once for a request that waits. An open stream delivers
 * nothing for what others write, and so stays behind the end. A second stream, up to that end, delivers what is left.
 * A ping proves that the followed stream is open on the history of the end, and a lower end that it is not.
 */
export class CatchUp {
  readonly #wake = new Notifier();
  /** How many requests wait. */
  #waiting = 0;
  /** The newest end that was read. It is reached when the one before is. */
  #target: Target | undefined;
  #reaching: Promise<void> = Promise.resolve();
  #isReaching = false;
  /** The stream that was followed at an earlier poll, or whose request was accepted as that of a fetch. */
  #accepted: UpdateStream | undefined;
  /** Polls in a row that could not read the end. */
  #failedReads = 0;
  /** What the last poll found. */
  #last = { end: 0, applied: 0 };

  constructor(
    private readonly applier: Applier,
    private readonly options: CatchUpOptions,
  ) {}

  /** Runs until the signal is aborted. Never rejects. */
  async run(): Promise<void> {
    await this.#readEnds();
    await this.#reaching;
  }

  /** See Freshness. */
  async *wait(): AsyncGenerator<CatchUpProgress> {
    const { lag, readWait } = this.options;
    const { reads } = lag;
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<"expired">((resolve) => {
      timer = setTimeout(resolve, readWait, "expired");
    });
    this.#waiting++;
    try {
      let { moved } = lag;
      this.#wake.notify();
      while (!lag.hasReachedEndAfter(reads)) {
        if ((await Promise.race([moved, expired])) === "expired") return;
        // What moves it while the caller looks at the store ends the next wait.
        moved = lag.moved;
        if (!lag.hasReachedEndAfter(reads)) yield "advanced";
      }
      yield "reached";
    } finally {
      this.#waiting--;
      clearTimeout(timer);
    }
  }

  async #readEnds(): Promise<void> {
    const { pause } = this.options;
    let woken = this.#wake.next;
    let poll = pause(POLL_MS);
    for (;;) {
      const isPoll = await Promise.race([poll.then(() => true), woken.then(() => false)]);
      if (this.#isStopped()) return;
      // A request that comes from now on waits for the next read: what it has seen may be after the present one.
      woken = this.#wake.next;
      if (isPoll) poll = pause(POLL_MS);
      const { stream } = this.applier;
      try {
        const isReachable = await this.#readEnd(isPoll);
        this.#failedReads = 0;
        if (!isReachable) await this.#retry();
      } catch (error) {
        if (isPoll) this.#reportFailedRead(error);
        await this.#fail(error, stream);
      }
    }
  }

  #isStopped(): boolean {
    return this.options.signal.aborted;
  }

  /** An expired token ends an idle stream late, and a dead connection never. Without a stream the mirror reports. */
  #reportFailedRead(error: unknown): void {
    if (!(error instanceof LedgerError) || this.applier.stream === undefined) return;
    if (++this.#failedReads >= REPORTED_READS) this.options.onUnreadableEnd(error);
  }

  /** The mirror meets the same failure on its stream and logs it, unless that stream is stuck, or is another one by now. */
  async #fail(error: unknown, stream: UpdateStream | undefined): Promise<void> {
    if (!(error instanceof LedgerError)) return this.#retry();
    if (!TRANSIENT.has(error.kind) && stream === this.applier.stream) this.applier.abandon(error);
    await this.#retry(error.details.retryMs);
  }

  /** For the requests that wait. The next poll is made anyway. */
  async #retry(afterMs = RETRY_MS): Promise<void> {
    if (this.#waiting === 0) return;
    await this.options.pause(Math.min(afterMs, POLL_MS));
    this.#wake.notify();
  }

  /**
   * Reads the ledger's end, and lets the store reach it. Returns whether there is a stream to prove and reach it by. Throws
   * LedgerError.
   */
  async #readEnd(isPoll: boolean): Promise<boolean> {
    const { stream, confirmedOffset, checkpoint } = this.applier;
    if (checkpoint === undefined) return false;
    const end = await this.options.lag.readEnd();
    // A snapshot of the present history may have been applied since the request.
    if (end.offset < Math.min(confirmedOffset, this.applier.confirmedOffset)) {
      this.#foundOtherHistory(
        `the ledger ends at offset ${end.offset}, but offset ${confirmedOffset} has been applied`,
      );
      return false;
    }
    if (stream === undefined || stream !== this.applier.stream) return false;
    this.#target = { end, stream, isAccepted: stream === this.#accepted, isBacklog: this.#hasBacklog() };
    if (isPoll) {
      this.#accepted = stream;
      this.#last = { end: end.offset, applied: this.applier.confirmedOffset };
    }
    // Not awaited: a stream without an answer must not delay the notice of a lower end.
    if (!this.#isReaching) this.#reaching = this.#reachTargets();
    return true;
  }

  /** The mirror opens another stream, and checks the history or takes a new snapshot. */
  #foundOtherHistory(reason: string): void {
    const { lag, log } = this.options;
    if (lag.otherHistory === undefined) log.warn({ reason }, "the ledger may have another history: it is checked");
    lag.historyLost(reason);
    this.applier.abandon(new Reopened());
  }

  /** The stream has moved the store since the last poll, and is more than a poll behind: a fetch would bring all twice. */
  #hasBacklog(): boolean {
    const { confirmedOffset } = this.applier;
    return confirmedOffset > this.#last.applied && confirmedOffset < this.#last.end;
  }

  /** Never rejects. */
  async #reachTargets(): Promise<void> {
    this.#isReaching = true;
    for (let target = this.#target; target !== undefined && !this.#isStopped(); target = this.#target) {
      this.#target = undefined;
      try {
        if (!(await this.#reach(target))) await this.#retry();
      } catch (error) {
        await this.#fail(error, target.stream);
      }
    }
    this.#isReaching = false;
  }

  /** Returns whether the stream that is followed has proved to be of the end's history. */
  async #reach({ end, stream, isAccepted, isBacklog }: Target): Promise<boolean> {
    const { ledger, lag } = this.options;
    const { confirmedOffset } = this.applier;
    const isFetched = confirmedOffset < end.offset && !isBacklog;
    const updates = isFetched ? await ledger.updates(confirmedOffset, end.offset) : undefined;
    const timer = setTimeout(() => updates?.close(), MAX_FETCH_MS);
    try {
      // An end alone may be of another history, and so may a fetch that was opened after the followed stream was cut. A dead
      // connection shows no cut: an answer to a later ping shows that there was none.
      if (!(await stream.isResponsive()) || stream !== this.applier.stream) return false;
      lag.confirm(end, isAccepted);
      if (isAccepted) this.options.onAccepted();
      if (updates === undefined) return true;
      for await (const elements of inBatches(updates)) await this.applier.apply(elements, stream);
      this.applier.confirm(end.offset, stream);
      // The participant has accepted the same request.
      if (stream !== this.applier.stream) return false;
      if (!isAccepted) lag.confirm(end);
      this.#accepted = stream;
      return true;
    } finally {
      clearTimeout(timer);
      updates?.close();
    }
  }
}
