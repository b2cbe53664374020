/**
 * Runs one call at a time and shares it. A caller that comes while a call is in
 * progress joins the next one, because the current call may have started before
 * the event that the caller has seen.
 */
export class SingleFlight<T> {
  readonly #call: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(call: () => Promise<T>) {
    this.#call = call;
  }

  /** Resolves or rejects as a call that starts from now on. */
  run(): Promise<T> {
    if (this.#current === undefined) {
      this.#current = this.#call().finally(() => {
        this.#current = undefined;
      });
      return this.#current;
    }
    const start = () => {
      this.#next = undefined;
      return this.run();
    };
    this.#next ??= this.#current.then(start, start);
    return this.#next;
  }
}
