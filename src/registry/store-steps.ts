/** Reads many contracts beside the requests, in steps short enough not to delay them. */
import type { Contract } from "../domain/contract.js";
import type { Template } from "../domain/template.js";
import type { StoreScan, View } from "../store/port.js";

export interface StepLimits {
  /** Contracts of one step at most. */
  readonly maxStep: number;
  /** The rest after a step, as a multiple of the CPU time that it took. */
  readonly restPerCpu: number;
  /** The same for the time that it waited for a database. */
  readonly restPerWait: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits for some milliseconds; resolves early when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** No step begins after it is aborted. */
  readonly signal: AbortSignal;
}

/** `now` is the time of the step, in milliseconds since 1970. */
type Step<F, R> = (view: View, contracts: readonly Contract<F>[], now: number) => R;

/** Contracts of one step, in which no request is answered. The next step is smaller or larger by what it took. */
const FIRST_STEP = 25;
const MIN_STEP = 10;
const LONG_MS = 5;
const SHORT_MS = 1;

/** The size of a step adapts to the one before, also of another template. */
export class StoreSteps {
  readonly #scan: StoreScan;
  readonly #limits: StepLimits;
  #size = FIRST_STEP;

  constructor(scan: StoreScan, limits: StepLimits) {
    this.#scan = scan;
    this.#limits = limits;
  }

  /**
   * Yields the result of `use` for each step, with the number of ids in it; ends early on an abort. `use` runs again if
   * the store has to fetch. Contracts that were archived since they were listed are left out. Throws what a read throws.
   */
  async *run<F, R>(
    template: Template<F>,
    ids: readonly string[],
    use: Step<F, R>,
  ): AsyncGenerator<{ readonly result: R; readonly count: number }> {
    const { restPerCpu, restPerWait, pause, signal } = this.#limits;
    for (let from = 0; from < ids.length && !signal.aborted;) {
      const stepIds = ids.slice(from, from + this.#size);
      from += stepIds.length;
      const { result, cpuMs, waitMs } = await this.#step(template, stepIds, use);
      yield { result, count: stepIds.length };
      await pause(Math.max(cpuMs * restPerCpu, waitMs * restPerWait));
    }
  }

  async #step<F, R>(
    template: Template<F>,
    ids: readonly string[],
    use: Step<F, R>,
  ): Promise<{ readonly result: R; readonly cpuMs: number; readonly waitMs: number }> {
    const now = this.#limits.now();
    const startedAt = performance.now();
    let cpuMs = 0;
    // On a database a step runs again after each query.
    let longestMs = 0;
    const result = await this.#scan.read((view) => {
      const runAt = performance.now();
      try {
        const contracts = ids.map((id) => view.byId(template, id)).filter((found) => found !== undefined);
        return use(view, contracts, now);
      } finally {
        const runMs = performance.now() - runAt;
        cpuMs += runMs;
        longestMs = Math.max(longestMs, runMs);
      }
    });
    this.#adapt(longestMs);
    return { result, cpuMs, waitMs: performance.now() - startedAt - cpuMs };
  }

  #adapt(longestMs: number): void {
    if (longestMs > LONG_MS) this.#size = Math.max(MIN_STEP, this.#size >> 1);
    else if (longestMs < SHORT_MS) this.#size = Math.min(this.#limits.maxStep, this.#size * 2);
  }
}
