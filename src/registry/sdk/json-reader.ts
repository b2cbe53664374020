import { formatValue, invalidField, type RegistryError } from "../../domain/errors.js";
import { isObject, type JsonObject, type JsonValue, plainDecimal } from "../../domain/json.js";
import { parseLedgerTime } from "../../domain/ledger-time.js";
import type { FactoryQuery } from "./registry.js";

/**
 * Reads the fields of an untrusted JSON object. Every method throws RegistryError "invalid" with the path of a field
 * that is missing or has the wrong type. Absent and null fields both read as undefined, as Daml's optional values do.
 */
export class JsonReader {
  readonly #value: JsonObject;
  readonly #location: Location;

  /** `location` is the object's name in messages, such as "choiceArguments"; "" for a contract's payload. */
  constructor(value: JsonObject, location: Location) {
    this.#value = value;
    this.#location = location;
  }

  path(name: string): string {
    const path = formatLocation(this.#location);
    return path === "" ? name : `${path}.${name}`;
  }

  /** The error "invalid" about a field. `problem` completes the sentence that begins with the path: "is empty". */
  invalid(name: string, problem: string): RegistryError {
    return invalidField(this.path(name), problem);
  }

  raw(name: string): JsonValue | undefined {
    const value = this.#value[name] ?? undefined;
    // Names such as "toString" and "__proto__" find properties of Object.prototype, which JSON does not have.
    return typeof value === "function" || value === Object.prototype ? undefined : value;
  }

  /** A non-empty string: a party, a contract id, an identifier. */
  id(name: string): string {
    const text = this.text(name);
    if (text === "") throw this.invalid(name, "is empty");
    return text;
  }

  optionalId(name: string): string | undefined {
    return this.raw(name) === undefined ? undefined : this.id(name);
  }

  text(name: string): string {
    const value = this.raw(name);
    return typeof value === "string" ? value : this.#wrongType(name, "a string");
  }

  /** A whole number, which the ledger encodes as a string. */
  wholeNumber(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : this.#wrongType(name, `a whole number from ${min} to ${max}`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.raw(name);
    return values.find((known) => known === value) ?? this.#wrongType(name, `one of ${values.join(", ")}`);
  }

  optionalBool(name: string): boolean | undefined {
    const value = this.raw(name);
    return value === undefined || typeof value === "boolean" ? value : this.#wrongType(name, "a boolean");
  }

  /** A time (RFC 3339, UTC) in microseconds since 1970. */
  optionalTime(name: string): number | undefined {
    if (this.raw(name) === undefined) return undefined;
    try {
      return parseLedgerTime(this.text(name));
    } catch {
      return this.#wrongType(name, "a time such as 2026-01-31T12:00:00.123456Z");
    }
  }

  object(name: string): JsonReader {
    const given = this.raw(name);
    const value = isObject(given) ? given : this.#wrongType(name, "an object");
    return new JsonReader(value, { parent: this, name, index: undefined });
  }

  optionalObject(name: string): JsonReader | undefined {
    return this.raw(name) === undefined ? undefined : this.object(name);
  }

  objects(name: string): JsonReader[] {
    return this.#list(name).map((element, index) => {
      const location = { parent: this, name, index };
      if (!isObject(element)) throw this.#wrongElement(name, index, "an object", element);
      return new JsonReader(element, location);
    });
  }

  texts(name: string): string[] {
    return this.#list(name).map((element, index) => {
      if (typeof element === "string") return element;
      throw this.#wrongElement(name, index, "a string", element);
    });
  }

  /** The keys of a Daml map: an object, or a list of pairs of key and value. None if the field is absent or null. */
  mapKeys(name: string): string[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) return Object.keys(isObject(value) ? value : this.#wrongType(name, "a map"));
    return value.map((pair, index) => {
      const [key] = Array.isArray(pair) ? pair : [];
      if (typeof key === "string") return key;
      throw this.#wrongElement(name, index, "a pair of a string and a value", pair);
    });
  }

  /** The objects of a list; none if the field is absent or null. */
  optionalObjects(name: string): JsonReader[] {
    return this.raw(name) === undefined ? [] : this.objects(name);
  }

  /** All fields of an object whose values are strings. */
  allTexts(): Record<string, string> {
    return Object.fromEntries(Object.keys(this.#value).map((name) => [name, this.text(name)]));
  }

  #list(name: string): JsonValue[] {
    const value = this.raw(name);
    return Array.isArray(value) ? value : this.#wrongType(name, "a list");
  }

  #wrongType(name: string, expected: string): never {
    const value = this.raw(name);
    const found = value === undefined ? "is missing" : `is ${formatValue(value)}`;
    throw this.invalid(name, `must be ${expected}, but ${found}`);
  }

  #wrongElement(name: string, index: number, expected: string, element: JsonValue): RegistryError {
    return invalidField(`${this.path(name)}[${index}]`, `must be ${expected}, but is ${formatValue(element)}`);
  }
}

/** A linked list instead of a string: the path is only needed for an error message. */
type Location = string | { readonly parent: JsonReader; readonly name: string; readonly index: number | undefined };

function formatLocation(location: Location): string {
  if (typeof location === "string") return location;
  const path = location.parent.path(location.name);
  return location.index === undefined ? path : `${path}[${location.index}]`;
}

/** Daml Decimals: up to 28 digits before the point and 10 after it. */

const PLACES = 10;
const decimalPattern = /^([+-]?)(\d{1,28})(?:\.(\d{1,10}))?$/;

/** A decimal in units of 10^-10; undefined if the text is malformed. */
export function parseDecimal(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = ""] = decimalPattern.exec(text) ?? [];
  if (whole === "") return undefined;
  const amount = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return sign === "-" ? -amount : amount;
}

/** The decimal in a field, in units of 10^-10. Throws "invalid" if it is malformed. */
export function decimalField(fields: JsonReader, name: string): bigint {
  const raw = fields.raw(name);
  const text = typeof raw === "number" ? plainDecimal(raw) : fields.text(name);
  const amount = parseDecimal(text);
  if (amount !== undefined) return amount;
  throw fields.invalid(name, `must be a decimal such as 1.0000000000, but is ${formatValue(text)}`);
}

/** The amount in the ledger's format, with ten decimal places. */
export function decimalText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(PLACES + 1, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** Reads the choice arguments of a query. Errors name the field of the request that had them. */
export function argumentsReader({ choiceArguments, argumentsName = "choiceArguments" }: FactoryQuery): JsonReader {
  return new JsonReader(choiceArguments, argumentsName);
}

/** An account, as version 2 of the token standard (CIP-0112) defines it. */
export interface Account {
  readonly owner: string | undefined;
  readonly provider: string | undefined;
  readonly id: string;
  /** The party of the account: its owner, else its provider; of a special account the instrument's admin. */
  readonly party: string;
  /** Whether it is the source of a mint or the target of a burn, which nobody holds. */
  readonly isSpecial: boolean;
}

/** Accounts without owner and provider: the source of a mint and the target of a burn. */
const SPECIAL_IDS = ["cip-112/mint", "cip-112/burn"];

/** The party that stands for a special account where version 1 of the standard has a party. */
export const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

/** Reads an account. Throws "invalid" if it has neither owner nor provider and is not special. */
export function accountOf(fields: JsonReader, admin: string): Account {
  const owner = fields.optionalId("owner");
  const provider = fields.optionalId("provider");
  const id = fields.raw("id") === undefined ? "" : fields.text("id");
  const party = owner ?? provider;
  if (party !== undefined) return { owner, provider, id, party, isSpecial: false };
  return specialAccount(id, admin, () => fields.path("owner"));
}

/**
 * The account in a field that is a party in version 1 of the standard and an account in version 2. In version 1 the `meta`
 * beside it may say provider and id of the account, for every owner.
 */
export function accountIn(fields: JsonReader, name: string, admin: string): Account {
  if (typeof fields.raw(name) !== "string") return accountOf(fields.object(name), admin);
  const named = fields.id(name);
  const owner = named === NO_OWNER ? undefined : named;
  const values = fields.optionalObject("meta")?.optionalObject("values");
  const textOf = (field: string): string | undefined =>
    values?.raw(`cip-112/${name}.${field}`) === undefined ? undefined : values.text(`cip-112/${name}.${field}`);
  // Both are texts, in which "" stands for none.
  const provider = textOf("provider") || undefined;
  const id = textOf("id");
  const party = owner ?? provider;
  if (party !== undefined) return { owner, provider, id: id ?? "", party, isSpecial: false };
  // Without an id the party alone names the special account.
  return specialAccount(id ?? "cip-112/mint", admin, () => values?.path(`cip-112/${name}.id`) ?? fields.path(name));
}

/** The party in a field that is a party in version 1 of the standard and an account in version 2. */
export function partyOf(fields: JsonReader, name: string, admin: string): string {
  return accountIn(fields, name, admin).party;
}

function specialAccount(id: string, admin: string, path: () => string): Account {
  if (SPECIAL_IDS.includes(id)) return { owner: undefined, provider: undefined, id, party: admin, isSpecial: true };
  throw invalidField(
    path(),
    `must name an owner or a provider, because the account's id is not ${SPECIAL_IDS.join(" or ")}, ` +
      `but the id is ${JSON.stringify(id)}`,
  );
}
