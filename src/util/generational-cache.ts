/**
 * An approximate LRU cache of two generations, at most `generationSize` values each. A full young generation replaces
 * the old one. A hit in the old one copies the value to the young one; a hit in the young one writes nothing.
 */
export class GenerationalCache<V> {
  readonly #generationSize: number;
  readonly #keyOf: (value: V) => string;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** `keyOf` gives the key of a value, as the string to keep. */
  constructor(generationSize: number, keyOf: (value: V) => string) {
    this.#generationSize = generationSize;
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
    if (this.#young.size === this.#generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(this.#keyOf(value), value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Entries in both generations; a value in both counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
