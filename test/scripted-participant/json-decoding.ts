/** Decodes the JSON of requests by the published documents. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

export class DecodingError extends Error {
  /** All that is wrong, each with the path of its field. */
  constructor(...problems: readonly (readonly [where: string, problem: string])[]) {
    const listed = problems.map(([where, problem]) => (where === "" ? problem : `${problem} at '${where}'`));
    super(`Invalid value for: body (${listed.join(", ")})`);
    this.name = "DecodingError";
  }
}

const expected = (value: JsonValue | undefined, type: string): string =>
  value === undefined
    ? "Missing required field"
    : `Got value '${JSON.stringify(value)}' with wrong type, expecting ${type}`;

/** Throws for all fields that are absent. */
export function requireFields(value: JsonObject, names: readonly string[]): void {
  const missing = names.filter((name) => value[name] === undefined);
  if (missing.length > 0) throw new DecodingError(...missing.map((name) => [name, "Missing required field"] as const));
}

export function object(value: JsonValue | undefined, where: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new DecodingError([where, expected(value, "object")]);
}

export function text(value: JsonValue | undefined, where: string): string {
  if (typeof value === "string") return value;
  throw new DecodingError([where, expected(value, "string")]);
}

/** An offset: a JSON number, or its text. */
export function long(value: JsonValue | undefined, where: string): number {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new DecodingError([where, value === undefined ? "Missing required field" : "Long"]);
}

export function array(value: JsonValue | undefined, where: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new DecodingError([where, expected(value, "array")]);
}

/** Decodes a value that may be absent or null. */
export function optional<T>(
  value: JsonValue | undefined,
  where: string,
  read: (value: JsonValue, where: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, where);
}

export function flag(value: JsonValue, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw new DecodingError([where, expected(value, "'true' or 'false'")]);
}

/** An object with one property, or empty if the value is undefined. For spreading. */
export function given<K extends string, T>(name: K, value: T | undefined): { [N in K]?: T } {
  const made: { [N in K]?: T } = {};
  if (value !== undefined) made[name] = value;
  return made;
}

export function parse(body: string): JsonValue {
  try {
    // JSON.parse returns JSON values only.
    return JSON.parse(body) as JsonValue;
  } catch {
    throw new DecodingError(["", "exhausted input"]);
  }
}
