import type { ByteBudget } from "./byte-budget.js";

/** Chunks below this size are copied: as objects of their own they cost many times their bytes. */
const FIRST_CAPACITY = 4_096;
const NO_BYTES = Buffer.alloc(0);

/**
 * Collects the chunks of one body. A body in one chunk is that chunk; others are copied into a buffer that doubles, so
 * that a body takes at most twice its bytes, however small its chunks are. What it takes counts in a budget until
 * `release`.
 */
export class BodyBuffer {
  readonly #budget: ByteBudget;
  #bytes: Buffer = NO_BYTES;
  #length = 0;
  #held = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get length(): number {
    return this.#length;
  }

  /** False if the budget has no room: the chunk is not kept. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      if (!this.#grow(chunk.length)) return false;
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length && !this.#extend(length)) return false;
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    return true;
  }

  /** The whole body. Valid after `release` too. */
  toBuffer(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  release(): void {
    this.#budget.giveBack(this.#held);
    this.#held = 0;
  }

  #extend(length: number): boolean {
    const capacity = Math.max(FIRST_CAPACITY, 2 ** Math.ceil(Math.log2(length)));
    if (!this.#grow(capacity)) return false;
    const extended = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(extended, 0, 0, this.#length);
    this.#bytes = extended;
    return true;
  }

  /** Replaces what is held by so many bytes. */
  #grow(bytes: number): boolean {
    if (!this.#budget.take(bytes - this.#held)) return false;
    this.#held = bytes;
    return true;
  }
}
