import type { JsonValue } from "../util/json.js";

const MAX_SHARED = 25_000;
/** Longer strings are contract ids and the like, which occur once. */
const MAX_SHARED_LENGTH = 128;

/** Parties, packages and synchronizers are in every contract: to share equal strings saves a seventh of the heap. */
export class SharedStrings {
  readonly #strings = new Map<string, string>();

  /** The first string equal to this one. */
  share(text: string): string {
    if (text.length > MAX_SHARED_LENGTH) return text;
    const shared = this.#strings.get(text);
    if (shared !== undefined) return shared;
    if (this.#strings.size === MAX_SHARED) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  /** Shares the strings of a parsed value, in place. */
  shareIn(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.share(value);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) value[index] = this.shareIn(item);
    else if (typeof value === "object" && value !== null)
      for (const [name, field] of Object.entries(value)) value[name] = this.shareIn(field ?? null);
    return value;
  }
}
