/** Decodes the JSON of requests by the published documents. */
import type { JsonObject, JsonValue } from "../src/domain/json.js";

export class DecodingError extends Error {
  constructor(where: string, problem: string) {
    super(`Invalid value for: body (${problem} at '.${where}')`);
    this.name = "DecodingError";
  }
}

export function object(value: JsonValue | undefined, where: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new DecodingError(
    where,
    value === undefined ? "Missing required field" : "Got value with wrong type, expecting object",
  );
}

export function text(value: JsonValue | undefined, where: string): string {
  if (typeof value === "string") return value;
  throw new DecodingError(
    where,
    value === undefined ? "Missing required field" : "Got value with wrong type, expecting string",
  );
}

/** An offset must be a JSON number. Canton rejects a string too. */
export function long(value: JsonValue | undefined, where: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new DecodingError(where, value === undefined ? "Missing required field" : "Long");
}

export function array(value: JsonValue | undefined, where: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new DecodingError(where, "Got value with wrong type, expecting array");
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
  throw new DecodingError(where, "Got value with wrong type, expecting 'true' or 'false'");
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
    throw new DecodingError("", "expected json value");
  }
}
