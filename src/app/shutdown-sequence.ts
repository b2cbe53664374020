/** Stops a resource. `graceMs` is the remaining time, in milliseconds, at least 0. */
type Stop = (graceMs: number) => Promise<void>;

/** Stops started resources in reverse order, all together within `graceMs`. */
export class ShutdownSequence {
  readonly #graceMs: number;
  readonly #stops: Stop[] = [];

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  add(stop: Stop): void {
    this.#stops.push(stop);
  }

  /** Runs every stop, even if one fails; throws the first error at the end. Further calls do nothing. */
  async run(): Promise<void> {
    const deadline = performance.now() + this.#graceMs;
    const errors: unknown[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
      try {
        // In sequence: a later resource uses the earlier ones.
        // oxlint-disable-next-line no-await-in-loop
        await stop(Math.max(0, deadline - performance.now()));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
