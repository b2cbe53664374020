import { NotReady, type StoreReader } from "../../state/port.js";
import { abortablePause, withTimeout } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import { httpStatus } from "../../domain/causes.js";
import { type Check, describeWarning, type Warning } from "../sdk/warnings.js";
import { scanWarnings } from "./scan.js";

export interface MonitorOptions {
  readonly checks: readonly Check[];
  readonly reader: StoreReader;
  /** What is found without a scan. */
  readonly standing: () => readonly Warning[];
  readonly credentialDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
}

/** The result of the latest finished scan. */
export interface WarningReport {
  /** When the scan began, in milliseconds since 1970. */
  readonly checkedAt: number;
  /** Of the last state that was read; undefined if nothing was. */
  readonly offset: number | undefined;
  readonly total: number;
  /** Also of kinds that were not found. */
  readonly counts: Readonly<Record<string, number>>;
  /** At most 100 of each kind. */
  readonly warnings: readonly Warning[];
}

/** From the start of a scan to the start of the next. */
const INTERVAL_MS = 60_000;
const MAX_LISTED = 100;
/** Small registries are checked within it. */
const MAX_WAIT_MS = 2_000;

/**
 * Finds what will fail, in the background. It scans only while somebody reads its reports, at most once a minute, and
 * one scan at a time.
 */
export class WarningMonitor {
  readonly #end = new AbortController();
  readonly #pause = abortablePause(this.#end.signal);
  #report: WarningReport | undefined;
  /** By the monotonic clock. */
  #startedAt: number | undefined;
  #running: Promise<void> | undefined;
  #isFailing = false;

  constructor(private readonly options: MonitorOptions) {}

  /** The latest report; undefined before the first. Starts a scan if the latest began a minute ago or earlier. */
  latest(): WarningReport | undefined {
    this.#startIfDue();
    return this.#report;
  }

  /** As `latest`, but waits for a running scan, at most `maxWaitMs`. */
  async current(maxWaitMs: number): Promise<WarningReport | undefined> {
    this.#startIfDue();
    if (this.#running !== undefined) await withTimeout(this.#running, maxWaitMs, () => undefined);
    return this.#report;
  }

  /** For `GET /warnings`. */
  async list(): Promise<object | undefined> {
    const report = await this.current(MAX_WAIT_MS);
    return report && reportJson(report);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  #startIfDue(): void {
    const { now, clock } = this.options;
    if (this.#running !== undefined || this.#end.signal.aborted) return;
    if (this.#startedAt !== undefined && clock() - this.#startedAt < INTERVAL_MS) return;
    this.#startedAt = clock();
    this.#running = this.#scan(now()).finally(() => {
      this.#running = undefined;
    });
  }

  /** Never throws. */
  async #scan(checkedAt: number): Promise<void> {
    const { checks, reader, standing, log, ...options } = this.options;
    try {
      // Not in the tick of the request that has asked.
      await this.#pause(0);
      const scanOptions = { ...options, pause: this.#pause, signal: this.#end.signal };
      const { found, offset } = await scanWarnings(reader, checks, scanOptions);
      if (this.#end.signal.aborted) return;
      for (const warning of standing()) found.add(warning);
      const { total, counts } = found;
      this.#report = { checkedAt, offset, total, counts, warnings: found.warnings(MAX_LISTED) };
      this.#isFailing = false;
    } catch (error) {
      // Try again at the next request for a report.
      this.#startedAt = undefined;
      if (error instanceof NotReady) return;
      if (!this.#isFailing) log.warn({ reason: errorMessage(error) }, "warnings not checked; the latest ones are kept");
      this.#isFailing = true;
    }
  }
}

/** docs/check.md describes it. */
const reportJson = ({ checkedAt, offset, total, counts, warnings }: WarningReport): object => ({
  checkedAt: new Date(checkedAt).toISOString(),
  offset,
  total,
  counts: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
  warnings: warnings.map((warning) => {
    const { problem: _problem, refusal, count = 1, ...more } = warning;
    const status = refusal === undefined ? undefined : httpStatus(refusal);
    return { ...more, count, status, message: describeWarning(warning) };
  }),
});
