/** A reproducible pseudorandom number generator, from fast-check. */
import fc from "fast-check";

/** Unbiased: by default fast-check prefers the ends of a range. */
const numbers = fc.infiniteStream(fc.noBias(fc.nat()), { noHistory: true });

export class Prng {
  readonly #numbers: Iterator<number>;

  constructor(seed: number) {
    const [stream] = fc.sample(numbers, { seed, numRuns: 1 });
    if (stream === undefined) throw new Error("fast-check returned no sample");
    this.#numbers = stream;
  }

  number(): number {
    return this.#numbers.next().value as number;
  }

  /** From 0 to `limit` - 1; 0 for a limit below 2. */
  below(limit: number): number {
    return limit <= 1 ? 0 : this.number() % limit;
  }

  /** From `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  chance(percent: number): boolean {
    return this.below(10_000) < percent * 100;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("cannot pick from an empty list");
    return list[this.below(list.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.number() & 255));
  }

  /** Splits the bytes at `cuts` random positions; without empty chunks. */
  split(bytes: Buffer, cuts: number): Buffer[] {
    const at = Array.from({ length: cuts }, () => this.below(bytes.length + 1)).toSorted((a, b) => a - b);
    const chunks = [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
    return chunks.filter((chunk) => chunk.length > 0);
  }

  of<T>(arbitrary: fc.Arbitrary<T>): T {
    const [value] = fc.sample(arbitrary, { seed: this.number(), numRuns: 1 });
    return value as T;
  }
}

/** The generator of one input, independent of those of its neighbours. */
export function createPrng(seed: number, generator: string, index: number): Prng {
  let mixed = seed | 0;
  for (const part of [...Buffer.from(generator), index]) {
    mixed = Math.imul(mixed ^ part, 0x9e3779b1);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x85ebca77);
    mixed ^= mixed >>> 13;
  }
  return new Prng(mixed);
}
