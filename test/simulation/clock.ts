/** Virtual time: timers fire in their order, as soon as everything before them has run. */

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
};

interface Interval {
  next: Timer | undefined;
}

export class VirtualClock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 0, 5);
  readonly #timers: Timer[] = [];
  #immediates: (() => void)[] = [];

  /** Replaces the global timers. Returns a function that restores them. */
  install(): () => void {
    const set = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      this.after(ms, () => callback(...args));
    const clear = (timer: Timer | undefined) => this.#clear(timer);
    const immediate = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
      void this.#immediates.push(() => callback(...args));
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: clear,
      setImmediate: immediate,
      setInterval: (callback: () => void, ms: number) => this.#every(ms, callback),
      clearInterval: (interval: Interval | undefined) => clear(interval?.next),
    });
    return () => Object.assign(globalThis, real);
  }

  #every(ms: number, callback: () => void): Interval {
    const interval: Interval = { next: undefined };
    const schedule = () => {
      interval.next = this.after(ms, () => {
        schedule();
        callback();
      });
    };
    schedule();
    return interval;
  }

  after(ms: number, callback: () => void): Timer {
    const timer = { at: this.now + ms, callback };
    // Behind the timers of the same time.
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1]?.at ?? 0) > timer.at) index--;
    this.#timers.splice(index, 0, timer);
    return timer;
  }

  sleep(ms: number): Promise<void> {
    return ms === 0 ? Promise.resolve() : new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Resolves early when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = this.after(ms, done);
      signal.addEventListener("abort", done);
      // eslint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment
      const clock = this;
      function done(): void {
        clock.#clear(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
    });
  }

  /** Moves on by a time. Calls `check` after each timer, once everything that follows from it has run. */
  async advance(ms: number, check: () => void): Promise<void> {
    const until = this.now + ms;
    await this.#settle();
    check();
    for (let next = this.#timers[0]; next !== undefined && next.at <= until; next = this.#timers[0]) {
      this.#timers.shift();
      this.now = next.at;
      next.callback();
      await this.#settle();
      check();
    }
    this.now = until;
    check();
  }

  async #settle(): Promise<void> {
    do {
      const due = this.#immediates;
      this.#immediates = [];
      for (const callback of due) callback();
      // Microtasks run before this resolves.
      await new Promise<void>((resolve) => void real.setImmediate(resolve));
    } while (this.#immediates.length > 0);
  }

  #clear(timer: Timer | undefined): void {
    const index = timer === undefined ? -1 : this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }
}
