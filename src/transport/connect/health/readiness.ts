interface Waiter {
  readonly isReady: boolean;
  readonly wake: () => void;
}

/** The readiness of the service, polled for all waiters together, and only while there are any. */
export class Readiness {
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly notReadyReason: () => string | undefined,
    private readonly pollMs: number,
  ) {}

  get isReady(): boolean {
    return this.notReadyReason() === undefined;
  }

  /** Resolves when the state differs from `isReady`, or when the signal aborts. */
  async changeFrom(isReady: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.isReady !== isReady) return;
    const settled = new AbortController();
    await new Promise<void>((wake) => {
      const waiter = { isReady, wake };
      this.#waiters.add(waiter);
      this.#timer ??= setInterval(() => this.#poll(), this.pollMs);
      signal.addEventListener("abort", () => wake(), { signal: settled.signal });
      settled.signal.addEventListener("abort", () => this.#waiters.delete(waiter));
    });
    settled.abort();
    if (this.#waiters.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const { isReady } = this;
    for (const waiter of this.#waiters) if (waiter.isReady !== isReady) waiter.wake();
  }
}
