/**
 * Keeps what is asked for again and again, and forgets the rest, in two
 * generations: when the young one is full it becomes the old one, and what of
 * that is asked for comes back among the young. At most twice the size of a
 * generation is kept.
 */
export class GenerationalCache<V> {
  readonly #max: number;
  readonly #keyOf: (value: V) => string;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** `most`: how many a generation has. `keyOf` gives what a value is asked for by, as it shall be kept. */
  constructor(max: number, keyOf: (value: V) => string) {
    this.#max = max;
    this.#keyOf = keyOf;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.add(old);
    return old;
  }

  add(value: V): void {
    if (this.#young.size === this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(this.#keyOf(value), value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** How many are kept, some of them twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
