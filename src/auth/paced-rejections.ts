/** What one turn of the event loop rejects. It takes a few milliseconds. */
const MAX_PER_TURN = 32;
/** Each keeps its request. */
const MAX_WAITING = 1_024;

/**
 * Spreads rejections over turns of the event loop. A client that sends invalid tokens as fast as they are rejected is
 * slowed down: otherwise turns would become long, and load shedding would refuse the requests of others.
 */
export class PacedRejections {
  readonly #waiting: (() => void)[] = [];
  #left = MAX_PER_TURN;
  #isScheduled = false;

  /** Calls `reject` now, or in a later turn where this one has had its share. */
  run(reject: () => void): void {
    this.#schedule();
    if (this.#left === 0 && this.#waiting.length < MAX_WAITING) {
      this.#waiting.push(reject);
      return;
    }
    if (this.#left > 0) this.#left--;
    reject();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#isScheduled = false;
    const next = this.#waiting.splice(0, MAX_PER_TURN);
    this.#left = MAX_PER_TURN - next.length;
    if (next.length > 0) this.#schedule();
    for (const reject of next) reject();
  };
}
