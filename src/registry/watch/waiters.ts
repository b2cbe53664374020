import { nextTurn } from "../../util/next-turn.js";

/** So many streams are woken in one turn of the event loop: each then makes and writes an event. */
const WAKES_PER_TURN = 50;

export interface Waiter {
  readonly wake: () => void;
  /** When it has to send a heartbeat, by the clock of its owner. */
  readonly deadline: number;
}

/** Streams that wait for something to send. */
export class Waiters<T extends Waiter> {
  readonly #waiters = new Set<T>();

  get count(): number {
    return this.#waiters.size;
  }

  add(waiter: T): void {
    this.#waiters.add(waiter);
  }

  delete(waiter: T): void {
    this.#waiters.delete(waiter);
  }

  /** Wakes all whom `isDue` selects, in short turns. Never rejects. */
  async wake(isDue: (waiter: T) => boolean): Promise<void> {
    let woken = 0;
    // A copy: those that have sent their event wait again.
    const present = [...this.#waiters];
    for (const waiter of present) {
      if (!this.#waiters.has(waiter) || !isDue(waiter)) continue;
      waiter.wake();
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      if (++woken % WAKES_PER_TURN === 0) await nextTurn();
    }
  }
}
