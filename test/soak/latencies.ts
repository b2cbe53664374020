/** A latency histogram with steps of 2 %: constant memory for any number of values. */
const STEP = Math.log(1.02);
const MIN_MS = 0.05;
const STEPS = 800;

export class Latencies {
  readonly #counts = new Uint32Array(STEPS);
  #total = 0;

  add(milliseconds: number): void {
    const step = Math.ceil(Math.log(Math.max(milliseconds, MIN_MS) / MIN_MS) / STEP);
    const index = Math.min(step, STEPS - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total++;
  }

  /** In milliseconds; `part` from 0 to 1. */
  percentile(part: number): number {
    let left = this.#total * part;
    const step = this.#counts.findIndex((count) => (left -= count) <= 0);
    return MIN_MS * Math.exp(STEP * Math.max(step, 0));
  }
}
