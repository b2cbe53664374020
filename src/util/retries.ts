export interface RetriesOptions {
  /** A monotonic clock, in milliseconds: for how long something lasts. */
  readonly clock: () => number;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** An attempt that lasted this long ends a row of failures. */
const STEADY_MS = 30_000;

/** The one loop that connects again: makes attempts at what should last, until the signal is aborted. */
export class Retries {
  #failures = 0;

  constructor(private readonly options: RetriesOptions) {}

  /** Ends a row of failures. */
  recovered(): void {
    this.#failures = 0;
  }

  /**
   * An attempt has failed when it ends. `retryAfter` gives the milliseconds until the next, after the nth failure in a row,
   * n counted from 1; undefined to make it at once and not to count the failure. `error` is undefined for one that did not
   * throw. Never rejects.
   */
  async run(
    attempt: () => Promise<unknown>,
    retryAfter: (failures: number, error: unknown) => number | undefined,
  ): Promise<void> {
    const { clock, pause, signal } = this.options;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      const startedAt = clock();
      let error: unknown;
      try {
        await attempt();
      } catch (thrown) {
        error = thrown;
      }
      if (isStopped()) return;
      if (clock() - startedAt > STEADY_MS) this.#failures = 0;
      const delay = retryAfter(this.#failures + 1, error);
      if (delay === undefined) continue;
      this.#failures++;
      await pause(delay);
    }
  }
}
