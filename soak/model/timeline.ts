/** Values by name, each from the offset of the update on that set it: what was so at any offset that is not forgotten. */
interface Entry<T> {
  readonly offset: number;
  /** Undefined where there is nothing from here on. */
  readonly value: T | undefined;
}

export class Timeline<T> {
  readonly #entries = new Map<string, Entry<T>[]>();

  /** Offsets of one name have to come in ascending order. */
  set(name: string, offset: number, value: T | undefined): void {
    const entries = this.#entries.get(name);
    if (entries === undefined) this.#entries.set(name, [{ offset, value }]);
    else entries.push({ offset, value });
  }

  at(name: string, offset: number): T | undefined {
    return this.#entries.get(name)?.findLast((entry) => entry.offset <= offset)?.value;
  }

  /** The offsets behind one, up to and including another, at which a name changed. */
  changes(name: string, after: number, upTo: number): readonly number[] {
    const entries = this.#entries.get(name) ?? [];
    return entries.map(({ offset }) => offset).filter((offset) => offset > after && offset <= upTo);
  }

  /** Forgets what was before an offset. What is no more, and was not then, leaves nothing behind. */
  forget(before: number): void {
    for (const [name, entries] of this.#entries) {
      const first = entries.findLastIndex(({ offset }) => offset <= before);
      if (first > 0) entries.splice(0, first);
      if (entries.length === 1 && entries[0]?.value === undefined) this.#entries.delete(name);
    }
  }

  /** How many names there is anything known of. */
  get size(): number {
    return this.#entries.size;
  }
}
