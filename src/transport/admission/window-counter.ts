/** Counts events in windows of fixed length. */
export class WindowCounter {
  readonly #max: number;
  readonly #windowMs: number;
  #startedAt = -Infinity;
  #count = 0;

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** Returns whether there were more than `max` in this window. `now` is of `performance.now()`. */
  add(now: number = performance.now()): boolean {
    if (now - this.#startedAt > this.#windowMs) {
      this.#startedAt = now;
      this.#count = 0;
    }
    return ++this.#count > this.#max;
  }
}
