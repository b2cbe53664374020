/** When changes are released to the streams. */
export interface ReleaseScheduleOptions {
  /** Releases what has changed, and returns how many milliseconds the streams were busy with it. */
  readonly release: () => Promise<number>;
  /** Whether there is more to release after that. */
  readonly isBehind: () => boolean;
  /** Monotonic, in milliseconds. */
  readonly clock: () => number;
  /** Changes within this time are released together: it bounds the events of a stream, whatever the ledger does. */
  readonly mergeMs: number;
}

/** Releases the first change at once, and those of the next `mergeMs` together, or of longer while the streams are busy. */
export class ReleaseSchedule {
  readonly #options: ReleaseScheduleOptions;
  #timer: NodeJS.Timeout | undefined;
  #isReleasing = false;
  /** When the first change was made that is not released yet. */
  #changedAt: number | undefined;
  /** The next changes are not released before. */
  #notBefore = -Infinity;
  #lagMs = 0;
  #isClosed = false;

  constructor(options: ReleaseScheduleOptions) {
    this.#options = options;
  }

  /** How long it took until all waiting streams had the latest changes, in milliseconds. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** Call this for each change. */
  changed(): void {
    const now = this.#options.clock();
    this.#changedAt ??= now;
    if (this.#timer !== undefined || this.#isReleasing) return;
    this.#timer = setTimeout(() => void this.#release(), Math.max(0, this.#notBefore - now));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Afterwards the streams rest for as long as they took, which leaves half of the time for requests. */
  async #release(): Promise<void> {
    const { release, isBehind, clock, mergeMs } = this.#options;
    this.#timer = undefined;
    this.#isReleasing = true;
    const begunAt = clock();
    const changedAt = this.#changedAt ?? begunAt;
    this.#changedAt = undefined;
    const took = await release();
    this.#notBefore = Math.max(begunAt + mergeMs, clock() + took);
    this.#lagMs = clock() - changedAt;
    this.#isReleasing = false;
    if (isBehind() && !this.#isClosed) this.changed();
  }
}
