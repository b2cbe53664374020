/** Reads the JSON of requests, with the fields that the published documents require. */
import type { JsonObject, JsonValue } from "../src/domain/json.js";

/** A request that is not of the published form. */
export class Undecodable extends Error {
  constructor(where: string, wanted: string) {
    super(`Invalid value for: body (${wanted} at '.${where}')`);
    this.name = "Undecodable";
  }
}

export function object(value: JsonValue | undefined, where: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Undecodable(
    where,
    value === undefined ? "Missing required field" : "Got value with wrong type, expecting object",
  );
}

export function text(value: JsonValue | undefined, where: string): string {
  if (typeof value === "string") return value;
  throw new Undecodable(
    where,
    value === undefined ? "Missing required field" : "Got value with wrong type, expecting string",
  );
}

/** An offset is a JSON number; one in quotes is refused, as Canton refuses it. */
export function long(value: JsonValue | undefined, where: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new Undecodable(where, value === undefined ? "Missing required field" : "Long");
}

export function array(value: JsonValue | undefined, where: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new Undecodable(where, "Got value with wrong type, expecting array");
}

/** What is read of a value that may be left out or null. */
export function optional<T>(
  value: JsonValue | undefined,
  where: string,
  read: (value: JsonValue, where: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, where);
}

export function flag(value: JsonValue, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw new Undecodable(where, "Got value with wrong type, expecting 'true' or 'false'");
}

/** A property to spread into an object; none where the value is undefined. */
export function given<K extends string, T>(name: K, value: T | undefined): { [N in K]?: T } {
  const made: { [N in K]?: T } = {};
  if (value !== undefined) made[name] = value;
  return made;
}

/** A text as JSON. */
export function parse(body: string): JsonValue {
  try {
    // JSON.parse gives nothing but JSON values.
    return JSON.parse(body) as JsonValue;
  } catch {
    throw new Undecodable("", "expected json value");
  }
}
