import type { ChangeFeed, LoggedChange, Position } from "./port.js";

/** Bounds of the memory: a tag takes some 80 bytes with its place in a set. */
const MAX_CHANGES = 10_000;
const MAX_TAGS = 200_000;

/** The latest changes of a store, oldest first. The store writes it after each change of its state. */
export class ChangeLog implements ChangeFeed {
  readonly #listeners = new Set<() => void>();
  #position: Position | undefined;
  readonly #changes: LoggedChange[] = [];
  #tags = 0;
  /** The changes are complete after this offset. */
  #completeFrom = 0;

  get position(): Position | undefined {
    return this.#position;
  }

  since({ generation, offset }: Position): readonly LoggedChange[] | undefined {
    if (generation !== this.#position?.generation || offset < this.#completeFrom) return undefined;
    // Streams are near the end.
    return this.#changes.slice(this.#changes.findLastIndex((change) => change.offset <= offset) + 1);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The state was replaced. */
  reset(position: Position): void {
    this.#changes.length = 0;
    this.#tags = 0;
    this.#position = position;
    this.#completeFrom = position.offset;
    this.#notify();
  }

  /** The state has moved to a later offset of the same generation. */
  append(change: LoggedChange): void {
    if (this.#position === undefined) throw new Error("the log of changes has no state to append to");
    this.#position = { generation: this.#position.generation, offset: change.offset, asOf: change.asOf };
    if (change.tags.size > 0) {
      this.#changes.push(change);
      this.#tags += change.tags.size;
      while (this.#changes.length > MAX_CHANGES || this.#tags > MAX_TAGS) this.#dropOldest();
    }
    this.#notify();
  }

  #dropOldest(): void {
    const oldest = this.#changes.shift();
    if (oldest === undefined) return;
    this.#tags -= oldest.tags.size;
    this.#completeFrom = oldest.offset;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
