/** Reads JSON that others have sent. */
import { isObject, type JsonObject, type JsonValue, parseJsonText } from "../util/json.js";

/** Undefined if the text is not JSON, or nested too deep. */
export const parseJson = (text: string): JsonValue | undefined => parseJsonText(text) as JsonValue | undefined;

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Returns the value as an object. Throws an Error with `name` if it is anything else. */
export function requireObject(value: JsonValue | undefined, name: string): JsonObject {
  if (isObject(value)) return value;
  throw new Error(`${name} must be an object, but ${value === undefined ? "is missing" : "is not one"}`);
}

/** Returns a non-empty string field. Throws an Error, with `advice` added, if it is missing, empty or not a string. */
export function requireString(from: JsonObject, name: string, advice?: string): string {
  const value = from[name];
  if (typeof value === "string" && value !== "") return value;
  const found = value === undefined ? "is missing" : value === "" ? "is empty" : "is not one";
  throw new Error(`${name} must be a string, but ${found}${advice === undefined ? "" : `: ${advice}`}`);
}

/** Returns a string field in canonical base64: padded, with the standard alphabet. Throws an Error as `requireString`. */
export function requireBase64(from: JsonObject, name: string, advice?: string): string {
  const text = requireString(from, name, advice);
  if (Buffer.from(text, "base64").toString("base64") === text) return text;
  throw new Error(`${name} must be base64 with padding, but is not: it would change when it is sent as bytes`);
}

/** The reassignment counter of an event; 0 if it has none. Throws if it is not a whole number. */
export function readReassignmentCounter(from: JsonObject): number {
  const value = from.reassignmentCounter ?? 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`reassignmentCounter must be a whole number, but is ${JSON.stringify(value)}`);
}
