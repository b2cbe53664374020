import { Code, type ConnectError } from "@connectrpc/connect";
import { retryAfter } from "../reject.js";
import { onTickEnd } from "../fast-path/response-batching.js";

/** When a caller may ask again, in seconds. */
const RETRY_SECONDS = 1;
/** For how long no turn was short before a burst counts as an overload, and how often an overload is looked at, in milliseconds. */
const LASTING_MS = 1_000;
/** A turn is short that takes this part of the longest delay at most. */
const SHORT_PART = 5;
/** In an overload requests wait for this part of the longest delay at most. */
const OVERLOAD_PART = 50;
/** An overload is over when of so many requests at most one was refused. */
const FEW = 20;

/**
 * Tells which requests would have waited for too long. All that has come when the event loop looks is answered in one
 * turn, one behind the other, so the time since the turn began is how long a request has waited. A burst is worked off,
 * as long as nobody waits for longer than `maxDelayMs`. Where it does not end, that would be how long everybody waits,
 * and so an overload leaves a small part of it: what is answered in a second stays the same, since the turns become as
 * short as what is left, and so does the wait for the next turn. (After the adaptive time limit of B. Maurer, "Fail at
 * Scale", ACM Queue 2015.)
 *
 * Sampling the delay of the event loop would see an overload when it has lasted, and refuse all requests or none until
 * the next sample.
 */
export class Shedding {
  readonly #maxDelayMs: number;
  readonly #shortMs: number;
  readonly #overloadMs: number;
  /** Made once: an error takes longer to make than all else here. */
  readonly #refusal = retryAfter(Code.Unavailable, REFUSAL, RETRY_SECONDS);
  #mostMs: number;
  /** When the turn began; undefined between turns. */
  #begun: number | undefined;
  #ended = performance.now();
  /** When it was last seen that there is no overload, or, in one, when it was last looked at. */
  #seen = this.#ended;
  #isOverload = false;
  /** Since an overload was last looked at. */
  #asked = 0;
  #refused = 0;

  /** 0 for never. */
  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
    this.#shortMs = maxDelayMs / SHORT_PART;
    this.#overloadMs = maxDelayMs / OVERLOAD_PART;
    this.#mostMs = maxDelayMs;
  }

  /** Why a request is not answered; undefined where it is. To be asked before each of them. `now` as `performance.now()` has it. */
  refusal(now: number = performance.now()): ConnectError | undefined {
    if (this.#maxDelayMs === 0) return undefined;
    this.#asked++;
    if (this.#begun === undefined) {
      this.#begin(now);
      return undefined;
    }
    if (now - this.#begun <= this.#mostMs) return undefined;
    this.#refused++;
    return this.#refusal;
  }

  #begin(now: number): void {
    this.#begun = now;
    onTickEnd(this.#end);
    // A time without requests is calm.
    if (now - this.#ended > this.#shortMs) this.#look(false, now);
    else if (now - this.#seen > LASTING_MS) this.#look(!this.#isOverload || this.#refused * FEW > this.#asked, now);
  }

  #look(isOverload: boolean, now: number): void {
    this.#isOverload = isOverload;
    this.#mostMs = isOverload ? this.#overloadMs : this.#maxDelayMs;
    this.#seen = now;
    this.#asked = 0;
    this.#refused = 0;
  }

  readonly #end = (): void => {
    const now = performance.now();
    if (!this.#isOverload && now - (this.#begun ?? now) <= this.#shortMs) this.#seen = now;
    this.#begun = undefined;
    this.#ended = now;
  };
}

const REFUSAL = "more is asked than can be answered in time; ask again";
