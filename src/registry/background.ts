/** Work beside the requests: rules on the contracts of the state, in steps short enough not to delay a request. */
import type { Contract } from "../domain/contract.js";
import type { Template } from "../domain/template.js";
import type { StoreReader, View } from "../state/port.js";
import type { RequestContext } from "./sdk/registry.js";

/** For rules that run beside requests: nothing is read from the ledger, and what is not in the store does not exist, unless it is read by id. */
export const backgroundContext = (view: View, now: number): RequestContext => ({
  view,
  now,
  hasReachedEnd: true,
  onLedger: () => "unasked",
  mayChangeAt: () => undefined,
});

export interface StepLimits {
  /** Contracts of one step at most. */
  readonly maxStep: number;
  /** The rest after a step, as a multiple of the CPU time that it took. */
  readonly restPerCpu: number;
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

/**
 * Reads many contracts beside the requests, in steps short enough not to delay them. The size of a step adapts to the one
 * before, also of another template.
 */
export class StoreSteps {
  #size = FIRST_STEP;

  constructor(
    private readonly store: StoreReader,
    private readonly limits: StepLimits,
  ) {}

  /**
   * Yields the result of `use` for each step, with the number of ids in it; ends early on an abort. Contracts that were
   * archived since they were listed are left out. Throws what a read throws.
   */
  async *run<F, R>(
    template: Template<F>,
    ids: readonly string[],
    use: Step<F, R>,
  ): AsyncGenerator<{ readonly result: R; readonly count: number }> {
    const { restPerCpu, pause, signal } = this.limits;
    for (let from = 0; from < ids.length && !signal.aborted;) {
      const stepIds = ids.slice(from, from + this.#size);
      from += stepIds.length;
      const startedAt = performance.now();
      const result = this.#step(template, stepIds, use);
      const tookMs = performance.now() - startedAt;
      this.#adapt(tookMs);
      yield { result, count: stepIds.length };
      await pause(tookMs * restPerCpu);
    }
  }

  #step<F, R>(template: Template<F>, ids: readonly string[], use: Step<F, R>): R {
    const now = this.limits.now();
    return this.store.read((view) => {
      const contracts = ids.map((id) => view.byId(template, id)).filter((found) => found !== undefined);
      return use(view, contracts, now);
    });
  }

  #adapt(tookMs: number): void {
    if (tookMs > LONG_MS) this.#size = Math.max(MIN_STEP, this.#size >> 1);
    else if (tookMs < SHORT_MS) this.#size = Math.min(this.limits.maxStep, this.#size * 2);
  }
}
