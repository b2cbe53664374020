/** Allows `perSecond` actions a second, and up to `burst` at once. */
export class TokenBucket {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `now` gives milliseconds. */
  constructor(burst: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#now = now;
    this.#tokens = burst;
    this.#filledAt = now();
  }

  /** Whether an action is allowed now; takes its token. */
  take(): boolean {
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
