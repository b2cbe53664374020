import { GenerationalCache } from "../util/generational-cache.js";
import type { JsonObject, JsonValue } from "../domain/json.js";

/** How many texts a generation has. */
const GENERATION = 25_000;
/** Longer ones are contract ids and the like, which come once. */
const LONGEST = 128;

/**
 * Parties, synchronizers and templates come with every contract, each time as
 * another text of some hundred bytes: here equal ones become one and the same,
 * which takes less memory and is compared at a glance. What comes once, as a
 * time or an amount, is forgotten, and takes nothing else along: a party that
 * became another text every some thousand contracts would be looked up in memory
 * that no cache has.
 */
export class StringInterner {
  readonly #known = new GenerationalCache<string>(GENERATION, (text) => text);

  intern(text: string): string {
    if (text.length > LONGEST) return text;
    const known = this.#known.get(text);
    if (known === undefined) this.#known.add(text);
    return known ?? text;
  }

  /** Every text in an object that was just parsed, and is nobody else's yet. */
  internAll(object: JsonObject): JsonObject {
    for (const name in object) {
      const value = object[name];
      if (value !== undefined) object[name] = this.#value(value);
    }
    return object;
  }

  #value(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.intern(value);
    if (typeof value !== "object" || value === null) return value;
    if (!Array.isArray(value)) return this.internAll(value);
    for (let index = 0; index < value.length; index++) value[index] = this.#value(value[index] ?? null);
    return value;
  }
}
