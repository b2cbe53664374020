/** Bytes that all requests together may hold. A request that finds none left is refused. */
export class ByteBudget {
  readonly limit: number;
  #used = 0;
  #refused = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether there is room for more bytes; then they count until they are given back. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) {
      this.#refused++;
      return false;
    }
    this.#used += bytes;
    return true;
  }

  /** Counts bytes that are held already, whether or not there is room for them. */
  hold(bytes: number): void {
    this.#used += bytes;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }

  get used(): number {
    return this.#used;
  }

  get isExhausted(): boolean {
    return this.#used >= this.limit;
  }

  /** How often `take` found no room. */
  get refused(): number {
    return this.#refused;
  }
}
