import { type JsonObject, type JsonValue, micros } from "../store/store.js";
import { invalid, shown } from "./errors.js";

/**
 * Reads the fields of a JSON object that came from outside. Every method names
 * the path of what is missing or of the wrong type, and throws it as "invalid".
 * An optional Daml value is absent or null; both read as undefined.
 */
export class Fields {
  readonly #value: JsonObject;
  readonly #path: string;

  /** `path` is how messages call the object: "choiceArguments", or "" for a payload. */
  constructor(value: JsonObject, path: string) {
    this.#value = value;
    this.#path = path;
  }

  path(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  /** The value of a field, or undefined where it is absent or null. */
  raw(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined;
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
  wholeNumber(name: string, least: number, most: number): number {
    const text = this.text(name);
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : this.#wrong(name, `a whole number from ${least} to ${most}`);
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
      return micros(this.text(name));
    } catch {
      return this.#wrong(name, "a time such as 2026-01-31T12:00:00.123456Z");
    }
  }

  object(name: string): Fields {
    return new Fields(asObject(this.raw(name)) ?? this.#wrong(name, "an object"), this.path(name));
  }

  optionalObject(name: string): Fields | undefined {
    return this.raw(name) === undefined ? undefined : this.object(name);
  }

  /** The elements of a list of objects. */
  objects(name: string): Fields[] {
    return this.#list(name).map((element, index) => {
      const path = `${this.path(name)}[${index}]`;
      const object = asObject(element);
      if (object === undefined) throw invalid(`${path} has to be an object, and is ${shown(element)}`);
      return new Fields(object, path);
    });
  }

  /** The elements of a list of texts. */
  texts(name: string): string[] {
    return this.#list(name).map((element, index) => {
      if (typeof element === "string") return element;
      throw invalid(`${this.path(name)}[${index}] has to be a string, and is ${shown(element)}`);
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
    const found = value === undefined ? "is missing" : `is ${shown(value)}`;
    throw invalid(`${this.path(name)} has to be ${expected}, and ${found}`);
  }
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
