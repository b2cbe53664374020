import type { JsonObject, JsonValue } from "../../domain/json.js";
import { parseLedgerTime } from "../../domain/ledger-time.js";
import { invalid, formatValue } from "../../domain/errors.js";

/**
 * Reads the fields of a JSON object that came from outside. Every method names
 * the path of what is missing or of the wrong type, and throws it as "invalid".
 * An optional Daml value is absent or null; both read as undefined.
 */
export class JsonReader {
  readonly #value: JsonObject;
  readonly #place: Place;

  /** `place` is how messages call the object: "choiceArguments", or "" for a payload; or where it stands in another. */
  constructor(value: JsonObject, place: Place) {
    this.#value = value;
    this.#place = place;
  }

  path(name: string): string {
    const path = pathOf(this.#place);
    return path === "" ? name : `${path}.${name}`;
  }

  /** The value of a field, or undefined where it is absent or null. */
  raw(name: string): JsonValue | undefined {
    const value = this.#value[name] ?? undefined;
    // What every object has from its prototype are functions, and the prototype: JSON has neither.
    return typeof value === "function" || value === Object.prototype ? undefined : value;
  }

  /** A text that is not empty: a party, a contract id, an identifier. */
  id(name: string): string {
    const text = this.text(name);
    if (text === "") throw invalid(`${this.path(name)} is empty`);
    return text;
  }

  optionalId(name: string): string | undefined {
    return this.raw(name) === undefined ? undefined : this.id(name);
  }

  text(name: string): string {
    const value = this.raw(name);
    return typeof value === "string" ? value : this.#wrong(name, "a string");
  }

  /** A whole number that the ledger writes as text, as it does with every number. */
  wholeNumber(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : this.#wrong(name, `a whole number from ${min} to ${max}`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.raw(name);
    return values.find((known) => known === value) ?? this.#wrong(name, `one of ${values.join(", ")}`);
  }

  optionalBool(name: string): boolean | undefined {
    const value = this.raw(name);
    return value === undefined || typeof value === "boolean" ? value : this.#wrong(name, "a boolean");
  }

  /** A point in time, RFC 3339 in UTC, in microseconds since 1970. */
  optionalTime(name: string): number | undefined {
    if (this.raw(name) === undefined) return undefined;
    try {
      return parseLedgerTime(this.text(name));
    } catch {
      return this.#wrong(name, "a time such as 2026-01-31T12:00:00.123456Z");
    }
  }

  object(name: string): JsonReader {
    const value = asObject(this.raw(name)) ?? this.#wrong(name, "an object");
    return new JsonReader(value, { around: this, name, index: undefined });
  }

  optionalObject(name: string): JsonReader | undefined {
    return this.raw(name) === undefined ? undefined : this.object(name);
  }

  /** The elements of a list of objects. */
  objects(name: string): JsonReader[] {
    return this.#list(name).map((element, index) => {
      const place = { around: this, name, index };
      const object = asObject(element);
      if (object === undefined) throw invalid(`${pathOf(place)} has to be an object, and is ${formatValue(element)}`);
      return new JsonReader(object, place);
    });
  }

  /** The elements of a list of texts. */
  texts(name: string): string[] {
    return this.#list(name).map((element, index) => {
      if (typeof element === "string") return element;
      throw invalid(`${this.path(name)}[${index}] has to be a string, and is ${formatValue(element)}`);
    });
  }

  /** Every field of an object of texts, by its name. */
  allTexts(): Record<string, string> {
    return Object.fromEntries(Object.keys(this.#value).map((name) => [name, this.text(name)]));
  }

  #list(name: string): JsonValue[] {
    const value = this.raw(name);
    return Array.isArray(value) ? value : this.#wrong(name, "a list");
  }

  #wrong(name: string, expected: string): never {
    const value = this.raw(name);
    const found = value === undefined ? "is missing" : `is ${formatValue(value)}`;
    throw invalid(`${this.path(name)} has to be ${expected}, and ${found}`);
  }
}

/** A path is put together when a message needs it: most objects are read without one. */
type Place = string | { readonly around: JsonReader; readonly name: string; readonly index: number | undefined };

function pathOf(place: Place): string {
  if (typeof place === "string") return place;
  const path = place.around.path(place.name);
  return place.index === undefined ? path : `${path}[${place.index}]`;
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
