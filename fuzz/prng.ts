/** Chance that can be had again: numbers of fast-check, from a seed. */
import fc from "fast-check";

/** Without bias, by which fast-check would give the ends of the range more often than the rest. */
const numbers = fc.infiniteStream(fc.noBias(fc.nat()), { noHistory: true });

/** What one input is made with. The same seed gives the same throws. */
export class Dice {
  readonly #numbers: Iterator<number>;

  constructor(seed: number) {
    const [stream] = fc.sample(numbers, { seed, numRuns: 1 });
    if (stream === undefined) throw new Error("fast-check has given no sample");
    this.#numbers = stream;
  }

  /** A whole number from 0 to 2³¹ - 1. */
  number(): number {
    return this.#numbers.next().value as number;
  }

  /** A whole number from 0 to `limit` - 1; 0 where there is none. */
  below(limit: number): number {
    return limit <= 1 ? 0 : this.number() % limit;
  }

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** True so often of a hundred times. */
  chance(percent: number): boolean {
    return this.below(10_000) < percent * 100;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("there is nothing to pick from");
    return list[this.below(list.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.number() & 255));
  }

  /** Pieces of the bytes, one behind the other: cut at so many places at most. */
  pieces(bytes: Buffer, cuts: number): Buffer[] {
    const at = Array.from({ length: cuts }, () => this.below(bytes.length + 1)).toSorted((a, b) => a - b);
    const found = [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
    return found.filter((piece) => piece.length > 0);
  }

  /** A value of an arbitrary of fast-check. */
  of<T>(arbitrary: fc.Arbitrary<T>): T {
    const [value] = fc.sample(arbitrary, { seed: this.number(), numRuns: 1 });
    return value as T;
  }
}

/** The dice of one input, which has nothing to do with those of its neighbours. */
export function diceOf(seed: number, sort: string, index: number): Dice {
  let mixed = seed | 0;
  for (const part of [...Buffer.from(sort), index]) {
    mixed = Math.imul(mixed ^ part, 0x9e3779b1);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x85ebca77);
    mixed ^= mixed >>> 13;
  }
  return new Dice(mixed);
}
