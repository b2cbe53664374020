/** Runs one call at a time. Callers meanwhile share the next: the current one may have started before what they saw. */
export class SingleFlight<T, A extends readonly unknown[] = []> {
  readonly #call: (...args: A) => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(call: (...args: A) => Promise<T>) {
    this.#call = call;
  }

  /** Settles as a call that starts from now on. A shared call gets the arguments of its first caller. */
  run(...args: A): Promise<T> {
    if (this.#current === undefined) {
      this.#current = this.#call(...args).finally(() => {
        this.#current = undefined;
      });
      return this.#current;
    }
    const start = () => {
      this.#next = undefined;
      return this.run(...args);
    };
    this.#next ??= this.#current.then(start, start);
    return this.#next;
  }
}
