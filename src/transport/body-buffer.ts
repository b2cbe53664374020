import type { Budget } from "./limits.js";

/** From this size on a buffer has pages of its own: it grows without a copy, and its memory is returned to the system, not to malloc. */
const RESIZABLE_BYTES = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

export interface BodyOptions {
  /** In bytes. */
  readonly limit: number;
  /** The content-length, if there is one. */
  readonly expected: number | undefined;
}

/** Collects one body. Costs at most twice its bytes, however small its chunks are, all taken from the budget. */
export class BodyBuffer {
  readonly #budget: Budget;
  readonly #expected: number | undefined;
  readonly #maxBytes: number;
  #buffer: Buffer = NO_BYTES;
  /** What the buffer is a view of, if it is large. */
  #pages: ArrayBuffer | undefined;
  #length = 0;
  #taken = 0;
  #isShared = false;

  constructor(budget: Budget, { limit, expected }: BodyOptions) {
    this.#budget = budget;
    this.#expected = expected;
    this.#maxBytes = Math.min(limit, budget.limit);
  }

  get length(): number {
    return this.#length;
  }

  /** The body so far, without a copy. Its bytes stay when the buffer is released. */
  share(): Buffer {
    this.#isShared = true;
    return this.#buffer.subarray(0, this.#length);
  }

  /** Takes a chunk, with which the body must not exceed its limit. False, without taking it, if the budget is used up. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    // A chunk is part of a read that may be larger, so only a whole body is kept without a copy.
    const isWhole = this.#length === 0 && length === this.#expected;
    if (length > this.#buffer.length && !this.#take(isWhole ? length : this.#capacityFor(length))) return false;
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
    // Returns the memory now, instead of after a garbage collection.
    if (!this.#isShared) this.#pages?.resize(0);
    this.#pages = undefined;
    this.#taken = 0;
    this.#buffer = NO_BYTES;
    this.#length = 0;
  }

  #capacityFor(length: number): number {
    return Math.max(length, Math.min(2 * this.#buffer.length, this.#expected ?? this.#maxBytes, this.#maxBytes));
  }

  #take(capacity: number): boolean {
    if (!this.#budget.tryTake(capacity - this.#taken)) return false;
    this.#taken = capacity;
    return true;
  }

  #grow(): void {
    if (this.#pages === undefined) {
      const grown = this.#allocate();
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    } else {
      this.#pages.resize(this.#taken);
      this.#buffer = Buffer.from(this.#pages, 0, this.#taken);
    }
  }

  #allocate(): Buffer {
    if (this.#taken < RESIZABLE_BYTES) return Buffer.allocUnsafe(this.#taken);
    this.#pages = new ArrayBuffer(this.#taken, { maxByteLength: this.#maxBytes });
    return Buffer.from(this.#pages, 0, this.#taken);
  }
}
