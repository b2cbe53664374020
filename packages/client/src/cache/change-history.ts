import type { ResponseBasis } from "./response-basis.js";
import { TagBits } from "./tags.js";

/**
 * The events since the latest reset: for each tag the offset of the latest event that has it. With them a response can be
 * kept that arrives after an event with a higher offset. Bounded: the oldest are forgotten.
 */
export class ChangeHistory {
  readonly #maxTags: number;
  readonly #offsets = new Map<string, number>();
  #generation: string | undefined;
  /** Every event with a higher offset is remembered. */
  #completeFrom = Number.POSITIVE_INFINITY;

  constructor(maxTags: number) {
    this.#maxTags = maxTags;
  }

  /** Of the latest event; undefined before the first. */
  get generation(): string | undefined {
    return this.#generation;
  }

  reset(generation: string, offset: number): void {
    this.#offsets.clear();
    this.#generation = generation;
    this.#completeFrom = offset;
  }

  add(tags: readonly string[], offset: number): void {
    for (const tag of tags) {
      const before = this.#offsets.get(tag) ?? offset;
      // Deleted first, so that the map is in the order of events.
      this.#offsets.delete(tag);
      this.#offsets.set(tag, Math.max(before, offset));
    }
    for (const [tag, forgotten] of this.#offsets) {
      if (this.#offsets.size <= this.#maxTags) break;
      this.#offsets.delete(tag);
      this.#completeFrom = Math.max(this.#completeFrom, forgotten);
    }
  }

  /** Whether no change is known, or may have been forgotten, that came after the response and has one of its tags. */
  isCurrent({ generation, offset, tags }: ResponseBasis): boolean {
    if (generation !== this.#generation || offset < this.#completeFrom || tags === undefined) return false;
    if (!(tags instanceof TagBits)) return tags.every((tag) => (this.#offsets.get(tag) ?? offset) <= offset);
    for (const [tag, changed] of this.#offsets) if (changed > offset && tags.mayHave(tag)) return false;
    return true;
  }
}
