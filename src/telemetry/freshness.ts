/** How current and how ready the service was: what the console shows, and what the log says. */
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SourceStatus } from "../ingest/source.js";
import type { FreshnessPoint } from "../service/console-data.js";
import type { Logger } from "../util/logger.js";

const SAMPLE_MS = 5_000;
/** Of one hour. */
const MAX_POINTS = 720;

/** Samples the state of the source, and keeps the points of the last hour. */
export class FreshnessHistory {
  /** Oldest first. */
  readonly #points: FreshnessPoint[] = [];
  readonly #timer: NodeJS.Timeout;

  /** `now` returns milliseconds since 1970. */
  constructor(
    private readonly status: () => SourceStatus,
    private readonly now: () => number = Date.now,
    intervalMs = SAMPLE_MS,
  ) {
    this.#timer = setInterval(() => this.#sample(), intervalMs).unref();
  }

  /** With the present as the last, oldest first. */
  points(): FreshnessPoint[] {
    return [...this.#points.slice(1 - MAX_POINTS), this.#present()];
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    if (this.#points.length >= MAX_POINTS) this.#points.shift();
    this.#points.push(this.#present());
  }

  #present(): FreshnessPoint {
    const { offset = 0, age, reconnects = 0 } = this.status();
    return {
      time: timestampFromMs(this.now()),
      offset: BigInt(offset),
      ...(age !== undefined && { age: durationFromMs(Math.round(age)) }),
      reconnects: BigInt(reconnects),
    };
  }
}

const READINESS_MS = 1_000;

/** Logs a line where readiness has changed: a line for each probe would hide what else the log says. */
export class ReadinessLog {
  readonly #timer: NodeJS.Timeout;

  /** `notReadyReason` returns undefined if the service is ready. What holds at first is no change. */
  constructor(notReadyReason: () => string | undefined, log: Logger, intervalMs = READINESS_MS) {
    let wasReady = notReadyReason() === undefined;
    this.#timer = setInterval(() => {
      const reason = notReadyReason();
      if ((reason === undefined) === wasReady) return;
      wasReady = reason === undefined;
      if (reason === undefined) log.info({}, "the service is ready");
      else log.warn({ reason }, "the service is not ready");
    }, intervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
