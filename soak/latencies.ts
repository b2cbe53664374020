/** Latencies in steps of 2 %, so that any number of them takes no more memory than one. */
const STEP = Math.log(1.02);
const LEAST_MS = 0.05;
const STEPS = 800;

export class Latencies {
  readonly #counts = new Uint32Array(STEPS);
  #total = 0;

  add(milliseconds: number): void {
    const step = Math.ceil(Math.log(Math.max(milliseconds, LEAST_MS) / LEAST_MS) / STEP);
    const index = Math.min(step, STEPS - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total++;
  }

  /** What so large a part of all stay below, in milliseconds. */
  percentile(part: number): number {
    let left = this.#total * part;
    const step = this.#counts.findIndex((count) => (left -= count) <= 0);
    return LEAST_MS * Math.exp(STEP * Math.max(step, 0));
  }
}
