import { Code, type ConnectError } from "@connectrpc/connect";
import { later } from "../refusing.js";

/** When a caller may ask again, in seconds. */
const RETRY_SECONDS = 1;
/** How long no turn was short before a burst counts as an overload, in milliseconds. */
const LASTING_MS = 1_000;
/** In an overload requests wait for this part of the longest delay at most. */
const PART = 5;

/**
 * Tells which requests would have waited for too long. All that has come when
 * the event loop looks is answered in one turn, one behind the other, so the time
 * since the turn began is how long a request has waited. A burst is worked off,
 * as long as nobody waits for longer than `maxDelayMs`. Where it does not end,
 * that would be how long everybody waits, so from then on it is a fifth. What is
 * refused costs a part of an answer, and the next turn has less to do. (This is
 * the adaptive time limit of B. Maurer, "Fail at Scale", ACM Queue 2015.)
 *
 * Sampling the delay of the event loop would see an overload when it has lasted,
 * and refuse all requests or none until the next sample.
 */
export class Shedding {
  readonly #maxDelayMs: number;
  readonly #short: number;
  #most: number;
  /** When the turn began; undefined between turns. */
  #begun: number | undefined;
  #ended = performance.now();
  #calm = this.#ended;

  /** 0 for never. */
  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
    this.#short = maxDelayMs / PART;
    this.#most = maxDelayMs;
  }

  /** Why a request is not answered; undefined where it is. To be asked before each of them. */
  refusal(): ConnectError | undefined {
    if (this.#maxDelayMs === 0) return undefined;
    const now = performance.now();
    if (this.#begun === undefined) {
      this.#begin(now);
      return undefined;
    }
    return now - this.#begun > this.#most ? later(Code.Unavailable, REFUSAL, RETRY_SECONDS) : undefined;
  }

  #begin(now: number): void {
    this.#begun = now;
    // A time without requests is calm.
    if (now - this.#ended > this.#short) this.#calm = now;
    this.#most = now - this.#calm > LASTING_MS ? this.#short : this.#maxDelayMs;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    const now = performance.now();
    if (now - (this.#begun ?? now) <= this.#short) this.#calm = now;
    this.#begun = undefined;
    this.#ended = now;
  };
}

const REFUSAL = "more is asked than can be answered in time; ask again";
