/** What has been started, and ends in the opposite order. */
export class ShutdownSequence {
  readonly #graceMs: number;
  readonly #ends: ((graceMs: number) => Promise<void>)[] = [];

  /** `graceMs`: how long all of it may take together. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** `end` is given what is left of the time, in milliseconds. */
  add(end: (graceMs: number) => Promise<void>): void {
    this.#ends.push(end);
  }

  /** Ends all of it, the last first. What fails does not keep the others; the first that did is thrown. */
  async run(): Promise<void> {
    const until = performance.now() + this.#graceMs;
    const errors: unknown[] = [];
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) {
      try {
        // One behind the other: what is above uses what is below.
        // oxlint-disable-next-line no-await-in-loop
        await end(Math.max(0, until - performance.now()));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
