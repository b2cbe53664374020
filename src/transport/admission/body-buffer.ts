import type { Budget } from "./budget.js";

/** Larger bodies leave a part of the budget to smaller ones. */
const SMALL_BYTES = 16 * 1024;
const RESERVED_PART = 4;

const NO_BYTES = Buffer.alloc(0);

/** Collects one body. Costs at most twice its bytes, however small its chunks are, all taken from the budget. */
export class BodyBuffer {
  readonly #budget: Budget;
  /** In bytes, if it is known. */
  readonly #expected: number | undefined;
  #buffer: Buffer = NO_BYTES;
  #length = 0;
  #taken = 0;

  constructor(budget: Budget, expected: number | undefined) {
    this.#budget = budget;
    this.#expected = expected;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** False, without taking the chunk, if the budget is used up. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    // A chunk is part of a read that may be larger, so only a whole body is kept without a copy.
    const isWhole = this.#length === 0 && length === this.#expected;
    if (length > this.#buffer.length && !this.#take(isWhole ? length : Math.max(length, 2 * this.#buffer.length))) {
      return false;
    }
    if (isWhole) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length) this.#grow();
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
    return true;
  }

  release(): void {
    this.#budget.release(this.#taken);
    this.#taken = 0;
    this.#buffer = NO_BYTES;
    this.#length = 0;
  }

  #take(capacity: number): boolean {
    const reserved = capacity > SMALL_BYTES ? this.#budget.limit / RESERVED_PART : 0;
    if (!this.#budget.tryTake(capacity - this.#taken, reserved)) return false;
    this.#taken = capacity;
    return true;
  }

  #grow(): void {
    const grown = Buffer.allocUnsafe(this.#taken);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
