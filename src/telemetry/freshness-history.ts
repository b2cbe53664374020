import type { SourceStatus } from "../ingest/source.js";

/** How current the service was at a time. */
export interface FreshnessPoint extends Pick<SourceStatus, "offset" | "age" | "reconnects"> {
  /** Milliseconds since 1970. */
  readonly time: number;
}

const INTERVAL_MS = 5_000;
/** Of one hour. */
const MAX_POINTS = 720;

/** Samples the state of the source, and keeps the points of the last hour. */
export class FreshnessHistory {
  readonly #status: () => SourceStatus;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #points: FreshnessPoint[] = [];
  readonly #timer: NodeJS.Timeout;

  /** `now` returns milliseconds since 1970. */
  constructor(status: () => SourceStatus, now: () => number = Date.now, intervalMs = INTERVAL_MS) {
    this.#status = status;
    this.#now = now;
    this.#timer = setInterval(() => this.#sample(), intervalMs).unref();
  }

  /** With the present as the last, oldest first. */
  points(): readonly FreshnessPoint[] {
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
    const { offset, age, reconnects } = this.#status();
    return { time: this.#now(), offset, age, reconnects };
  }
}
