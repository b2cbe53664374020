/** Somebody who waits for the state to be another than the one that is known. */
interface Waiting {
  readonly known: boolean;
  readonly wake: () => void;
}

/**
 * Whether requests may be sent, told to many at once when it changes. It is
 * looked at for all of them together, and not at all while nobody waits.
 */
export class Readiness {
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Why the service is not ready; undefined where it is. */
    private readonly notReadyReason: () => string | undefined,
    private readonly lookMs: number,
  ) {}

  get isReady(): boolean {
    return this.notReadyReason() === undefined;
  }

  /** Ends when the state is not `known` any more, or when the signal aborts. */
  async change(known: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.isReady !== known) return;
    const stop = new AbortController();
    await new Promise<void>((wake) => {
      const waiting = { known, wake };
      this.#waiting.add(waiting);
      this.#timer ??= setInterval(() => this.#look(), this.lookMs);
      signal.addEventListener("abort", () => wake(), { signal: stop.signal });
      stop.signal.addEventListener("abort", () => this.#waiting.delete(waiting));
    });
    stop.abort();
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const { isReady } = this;
    for (const { known, wake } of this.#waiting) if (known !== isReady) wake();
  }
}
