export interface FairLimits {
  /** Tasks under way, of all keys and of one. */
  readonly total: number;
  readonly perKey: number;
  /** Tasks that wait, of all keys. */
  readonly waiting: number;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Limits the tasks under way. Further tasks wait, and the keys take turns. Where too many wait, the key with the most
 * waiting tasks loses its last one, so a key with few is refused only when all have few.
 */
export class FairLimiter<K> {
  readonly #limits: FairLimits;
  /** Tasks under way by key, without keys that have none. */
  readonly #running = new Map<K, number>();
  /** Waiting tasks by key, without keys that have none. The first key has the next turn. */
  readonly #queues = new Map<K, Waiting[]>();
  #runningCount = 0;
  #waitingCount = 0;

  constructor(limits: FairLimits) {
    this.#limits = limits;
  }

  /** Settles as the task, which starts at once where the limits allow it; undefined where too many wait. */
  run<T>(key: K, task: () => Promise<T>): Promise<T | undefined> {
    if (this.#mayStart(key)) return this.#start(key, task);
    if (this.#waitingCount >= this.#limits.waiting && !this.#makeWayFor(key)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const start = () => resolve(this.#start(key, task));
      const queue = this.#queues.get(key);
      const waiting: Waiting = { start, refuse: () => resolve(undefined) };
      if (queue === undefined) this.#queues.set(key, [waiting]);
      else queue.push(waiting);
      this.#waitingCount++;
    });
  }

  #mayStart(key: K): boolean {
    return this.#runningCount < this.#limits.total && (this.#running.get(key) ?? 0) < this.#limits.perKey;
  }

  async #start<T>(key: K, task: () => Promise<T>): Promise<T> {
    this.#runningCount++;
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    try {
      return await task();
    } finally {
      this.#runningCount--;
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
      this.#startNext();
    }
  }

  #startNext(): void {
    // At most total / perKey keys are at their own limit, so few are passed over.
    for (const [key, queue] of this.#queues) {
      if (!this.#mayStart(key)) continue;
      const next = queue.shift();
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#waitingCount--;
      next?.start();
      return;
    }
  }

  /** Refuses the last task of the longest queue, unless the one of the key would be as long. */
  #makeWayFor(key: K): boolean {
    let longest: Waiting[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length <= (this.#queues.get(key)?.length ?? 0) + 1) return false;
    longest.pop()?.refuse();
    this.#waitingCount--;
    return true;
  }
}
