import { setMaxListeners } from "node:events";
import type { VirtualClock } from "./clock.js";

/** A process: it can be frozen, so that nothing that it waits for reaches it, and killed. */
export class Process {
  readonly #clock: VirtualClock;
  readonly #end = new AbortController();
  #nap: AbortController | undefined;
  #awake: Promise<void> | undefined;
  #frozenAt = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    // As many as pauses and streams at once.
    setMaxListeners(0, this.#end.signal);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** For how many milliseconds it has been frozen; 0 if it is not. */
  get frozenFor(): number {
    return this.#awake === undefined ? 0 : Math.max(1, this.#clock.now - this.#frozenAt);
  }

  freeze(ms: number): void {
    if (this.#awake !== undefined) return;
    const nap = new AbortController();
    this.#nap = nap;
    this.#frozenAt = this.#clock.now;
    this.#awake = this.#clock.pause(ms, nap.signal).then(() => {
      this.#awake = undefined;
    });
  }

  thaw(): void {
    this.#nap?.abort();
  }

  kill(): void {
    this.#end.abort();
    this.thaw();
  }

  async awake(): Promise<void> {
    while (this.#awake !== undefined) await this.#awake;
  }

  /** As `abortablePause`. */
  readonly pause = async (ms: number): Promise<void> => {
    await this.#clock.pause(ms, this.signal);
    await this.awake();
  };
}
