import { type Refusal, refusalCode } from "../refusals/refusal.js";
import type { Sample } from "./collected-metrics.js";

/** Pairs of operation and code: a registry module may make up codes. Beyond it, codes count as `other`. */
const MAX_PAIRS = 2_000;
const OTHER = "other";

/** Counts what the rules refused, by operation and by the code of the first cause. */
export class RefusalCounts {
  readonly #byOperation = new Map<string, Map<string, number>>();
  #pairs = 0;

  /** `operation` must be one of a bounded number. */
  add(operation: string, refusal: Refusal): void {
    const counts = this.#byOperation.get(operation) ?? new Map<string, number>();
    this.#byOperation.set(operation, counts);
    const code = refusalCode(refusal);
    const key = counts.has(code) || this.#pairs < MAX_PAIRS ? code : OTHER;
    const count = counts.get(key);
    if (count === undefined) this.#pairs++;
    counts.set(key, (count ?? 0) + 1);
  }

  /** By code. */
  of(operation: string): ReadonlyMap<string, number> {
    return this.#byOperation.get(operation) ?? new Map();
  }

  samples(): Sample[] {
    return [...this.#byOperation].flatMap(([operation, counts]) =>
      [...counts].map(([code, value]) => ({ labels: { operation, code }, value })),
    );
  }
}
