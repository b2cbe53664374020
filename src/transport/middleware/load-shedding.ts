import type { ConnectError } from "@connectrpc/connect";
import { refusal } from "../errors/error-details.js";

const RETRY_SECONDS = 1;
/** A burst is an overload once no tick was short for this long. In an overload, it is checked this often. */
const OVERLOAD_AFTER_MS = 1_000;
/** A tick is short if it takes at most `maxDelayMs` divided by this. */
const SHORT_TICK_DIVISOR = 5;
/**
 * In an overload requests wait for at most `maxDelayMs` divided by this. A shorter wait would shed more of a load just
 * below capacity (docs/decisions/load-shedding.md).
 */
const OVERLOAD_DIVISOR = 100;
/** An overload is over when at most one request in this many was shed. */
const RECOVERY_RATIO = 20;

/**
 * Sheds load with an adaptive timeout (CoDel-like, after Maurer, "Fail at Scale", ACM Queue 2015). One tick of the
 * event loop handles all requests that have arrived, so the age of the tick is how long a request has waited. In a
 * burst a request may wait for `maxDelayMs`. If the burst does not end, every request would wait that long. An
 * overload therefore allows a fraction of it: ticks, and the wait for the next tick, become short, and throughput stays
 * the same. Sampling the delay of the event loop instead would notice an overload late and shed all requests or none
 * until the next sample.
 */
export class Shedding {
  readonly #maxDelayMs: number;
  readonly #shortTickMs: number;
  readonly #overloadDelayMs: number;
  /** Created once, because errors are expensive. */
  readonly #error = refusal("OVERLOADED", "server overloaded; retry later", { retrySeconds: RETRY_SECONDS });
  #allowedDelayMs: number;
  #tickStartedAt: number | undefined;
  #tickEndedAt = performance.now();
  /** The last short tick, or in an overload the last check. */
  #checkedAt = this.#tickEndedAt;
  #isOverload = false;
  /** Since the last check. */
  #requests = 0;
  #shed = 0;

  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
    this.#shortTickMs = maxDelayMs / SHORT_TICK_DIVISOR;
    this.#overloadDelayMs = maxDelayMs / OVERLOAD_DIVISOR;
    this.#allowedDelayMs = maxDelayMs;
  }

  /**
   * The error to reject a request with, if any. Call this for every request; `now` is of `performance.now()`.
   */
  overloadError(now: number = performance.now()): ConnectError | undefined {
    if (this.#maxDelayMs === 0) return undefined;
    this.#requests++;
    if (this.#tickStartedAt === undefined) this.#startTick(now);
    const delay = now - (this.#tickStartedAt ?? now);
    if (delay <= this.#allowedDelayMs) return undefined;
    this.#shed++;
    return this.#error;
  }

  #startTick(now: number): void {
    this.#tickStartedAt = now;
    setImmediate(this.#endTick);
    // A pause between ticks ends any overload.
    if (now - this.#tickEndedAt > this.#shortTickMs) this.#setOverload(false, now);
    else if (now - this.#checkedAt > OVERLOAD_AFTER_MS) {
      this.#setOverload(!this.#isOverload || this.#shed * RECOVERY_RATIO > this.#requests, now);
    }
  }

  #setOverload(isOverload: boolean, now: number): void {
    this.#isOverload = isOverload;
    this.#allowedDelayMs = isOverload ? this.#overloadDelayMs : this.#maxDelayMs;
    this.#checkedAt = now;
    this.#requests = 0;
    this.#shed = 0;
  }

  readonly #endTick = (): void => {
    const now = performance.now();
    const isShort = now - (this.#tickStartedAt ?? now) <= this.#shortTickMs;
    if (!this.#isOverload && isShort) this.#checkedAt = now;
    this.#tickStartedAt = undefined;
    this.#tickEndedAt = now;
  };
}
