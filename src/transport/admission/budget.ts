/** An amount that all requests of the process share, in bytes or as a number. */
export class Budget {
  readonly limit: number;
  #used = 0;
  #refused = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** How often something was refused because the budget was used up. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether half of it is used. */
  get isScarce(): boolean {
    return this.#used > this.limit / 2;
  }

  /** Takes an amount if it is left. `reserve` is what must be left after it. */
  tryTake(amount: number, reserve = 0): boolean {
    if (this.#used + amount > this.limit - reserve) {
      this.#refused++;
      return false;
    }
    this.#used += amount;
    return true;
  }

  /** Takes an amount that exists already, even beyond the limit. */
  take(amount: number): void {
    this.#used += amount;
  }

  release(amount: number): void {
    this.#used -= amount;
  }

  /** Whether nothing but `reserve` is left. A true answer counts as a refusal. */
  refuses(reserve = 0): boolean {
    if (this.#used < this.limit - reserve) return false;
    this.#refused++;
    return true;
  }
}
