/** Streams that are woken make and write their events before the next ones are. */
const WAKES_AT_ONCE = 5;
/** Then requests get a turn of the event loop. */
const MAX_TURN_MS = 5;

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

  /** Selects waiters at once, and wakes them in short turns. Returns how long these took together. Never rejects. */
  async wake(isDue: (waiter: T) => boolean): Promise<number> {
    let woken = 0;
    let [total, begunAt] = [0, performance.now()];
    for (const waiter of [...this.#waiters].filter(isDue)) {
      if (!this.#waiters.has(waiter)) continue;
      waiter.wake();
      if (++woken % WAKES_AT_ONCE > 0) continue;
      await streamsHaveRun();
      const elapsed = performance.now() - begunAt;
      if (elapsed < MAX_TURN_MS) continue;
      total += elapsed;
      await nextTurn();
      begunAt = performance.now();
    }
    return total + performance.now() - begunAt;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves when all promise callbacks have run that can, in the same turn. */
const streamsHaveRun = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
