/** Versioned values: each name has a value from the offset that set it on. */
interface Entry<T> {
  readonly offset: number;
  readonly value: T | undefined;
}

export class Timeline<T> {
  readonly #entries = new Map<string, Entry<T>[]>();

  /** The offsets of a name must ascend. */
  set(name: string, offset: number, value: T | undefined): void {
    const entries = this.#entries.get(name);
    if (entries === undefined) this.#entries.set(name, [{ offset, value }]);
    else entries.push({ offset, value });
  }

  at(name: string, offset: number): T | undefined {
    return this.#entries.get(name)?.findLast((entry) => entry.offset <= offset)?.value;
  }

  /** The offsets after `after` and up to `upTo` at which a name changed. */
  changes(name: string, after: number, upTo: number): readonly number[] {
    const entries = this.#entries.get(name) ?? [];
    return entries.map(({ offset }) => offset).filter((offset) => offset > after && offset <= upTo);
  }

  /** Forgets values before an offset, and names that had none at it or later. */
  forget(before: number): void {
    for (const [name, entries] of this.#entries) {
      const first = entries.findLastIndex(({ offset }) => offset <= before);
      if (first > 0) entries.splice(0, first);
      if (entries.length === 1 && entries[0]?.value === undefined) this.#entries.delete(name);
    }
  }

  get size(): number {
    return this.#entries.size;
  }
}
