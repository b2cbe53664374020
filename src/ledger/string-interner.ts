import { GenerationalCache } from "../util/generational-cache.js";
import type { JsonObject, JsonValue } from "../domain/json.js";

const GENERATION_SIZE = 25_000;
/** Longer strings are contract ids and the like, which occur once. */
const MAX_LENGTH = 128;

/**
 * Shares equal strings: ids repeat in every contract. Strings used once, such as times, must not evict shared ones.
 * Gains 14 % of the heap and 8 % of an accept with 400,000 contracts; can go when JSON.parse shares strings.
 */
export class StringInterner {
  readonly #cache = new GenerationalCache<string>(GENERATION_SIZE, (text) => text);

  intern(text: string): string {
    if (text.length > MAX_LENGTH) return text;
    const cached = this.#cache.get(text);
    if (cached === undefined) this.#cache.add(text);
    return cached ?? text;
  }

  /** Interns every string in an object, in place. The caller must own the object. */
  internAll(object: JsonObject): JsonObject {
    for (const name in object) {
      const value = object[name];
      if (value !== undefined) object[name] = this.#internValue(value);
    }
    return object;
  }

  #internValue(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.intern(value);
    if (typeof value !== "object" || value === null) return value;
    if (!Array.isArray(value)) return this.internAll(value);
    for (let index = 0; index < value.length; index++) value[index] = this.#internValue(value[index] ?? null);
    return value;
  }
}
