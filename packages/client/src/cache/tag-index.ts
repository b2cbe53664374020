import { type ResponseTags, TagBits } from "./tags.js";

/** Finds responses by their tags. */
export class TagIndex<T extends { readonly tags: ResponseTags }> {
  readonly #byTag = new Map<string, Set<T>>();
  /** Those with a summary instead of a list: they are few, and each is looked at. */
  readonly #summarized = new Set<T>();

  add(response: T): void {
    if (response.tags instanceof TagBits) {
      this.#summarized.add(response);
      return;
    }
    for (const tag of response.tags) {
      const others = this.#byTag.get(tag);
      if (others === undefined) this.#byTag.set(tag, new Set([response]));
      else others.add(response);
    }
  }

  delete(response: T): void {
    if (response.tags instanceof TagBits) {
      this.#summarized.delete(response);
      return;
    }
    for (const tag of response.tags) {
      const others = this.#byTag.get(tag);
      others?.delete(response);
      if (others?.size === 0) this.#byTag.delete(tag);
    }
  }

  clear(): void {
    this.#byTag.clear();
    this.#summarized.clear();
  }

  /** The responses that have, or may have, one of the tags. */
  find(tags: readonly string[]): ReadonlySet<T> {
    const found = new Set<T>();
    for (const tag of tags) for (const response of this.#byTag.get(tag) ?? []) found.add(response);
    for (const response of this.#summarized) {
      const { tags: own } = response;
      if (own instanceof TagBits && tags.some((tag) => own.mayHave(tag))) found.add(response);
    }
    return found;
  }
}
