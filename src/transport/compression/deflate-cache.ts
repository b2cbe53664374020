import type { BinaryString } from "../encoding/binary-string.js";
import { type Deflated, deflate } from "./deflate.js";
import { TokenBucket } from "./token-bucket.js";

/** The compressed form of one chunk, kept with its contract. Lives in a DeflateCache. */
export class DeflateSlot {
  deflated: Deflated | undefined;
  /** Of a chunk that compression does not make shorter. */
  isIncompressible = false;
  /** The last generation in which it was used. */
  generation = 0;
}

/** In each of two generations. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What a slot takes besides its blocks. */
const SLOT_BYTES = 200;

/** Compressing a contract takes some 30 µs: at most 3 ms at once, and 3 % of the time. */
const MAX_AT_ONCE = 100;
const MAX_PER_SECOND = 1_000;

/**
 * Compresses each chunk once, and bounds the memory: what was not used in a whole generation is dropped. Slots belong to
 * contracts, and this holds no contract. A bounded number is compressed at once and per second, and while that is used
 * up, chunks stay uncompressed: contracts that are disclosed often get their turn soon. Joined, an acceptance costs 2 µs
 * instead of 90 (docs/performance.md); can go when zlib compresses as fast as memory is copied.
 */
export class DeflateCache {
  readonly #maxBytes: number;
  readonly #budget: TokenBucket;
  #generation = 1;
  #young: DeflateSlot[] = [];
  #old: DeflateSlot[] = [];
  #youngBytes = 0;
  /** Chunks compressed so far, for tests. */
  count = 0;

  constructor(maxBytes = MAX_BYTES, budget = new TokenBucket(MAX_AT_ONCE, MAX_PER_SECOND)) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  /** The compressed form of a slot's chunk without its last byte; undefined if it is to be sent as it is. */
  get(slot: DeflateSlot, chunk: Uint8Array | BinaryString): Deflated | undefined {
    if (slot.deflated === undefined) {
      if (slot.isIncompressible || !this.#budget.take()) return undefined;
      this.count++;
      slot.deflated = deflate(withoutLast(chunk));
      slot.isIncompressible = slot.deflated === undefined;
    }
    if (slot.deflated !== undefined && slot.generation !== this.#generation) this.#add(slot, slot.deflated);
    return slot.deflated;
  }

  #add(slot: DeflateSlot, { blocks }: Deflated): void {
    const size = blocks.length + SLOT_BYTES;
    if (this.#youngBytes + size > this.#maxBytes) this.#rotate();
    slot.generation = this.#generation;
    this.#young.push(slot);
    this.#youngBytes += size;
  }

  #rotate(): void {
    for (const slot of this.#old) if (slot.generation !== this.#generation) slot.deflated = undefined;
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
    this.#generation++;
  }
}

const withoutLast = (chunk: Uint8Array | BinaryString): Uint8Array =>
  typeof chunk === "string" ? Buffer.from(chunk.slice(0, -1), "latin1") : chunk.subarray(0, -1);
