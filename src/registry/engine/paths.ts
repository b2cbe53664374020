/** Paths into the payload of a contract. */
import type { JsonObject, JsonValue } from "../../domain/json.js";

const FUNCTION = /^(keys|hint|first)\((.+)\)$/;
const STEPS = /(?:[A-Za-z_]\w*|\*)(?:\.(?:[A-Za-z_]\w*|\*))*/.source;
export const PATH = new RegExp(`^(?:${STEPS}|(?:keys|hint|first)\\(${STEPS}\\))$`);

/**
 * The values at a path, none where a field is absent or null. `keys(…)`: the keys of a map, as text. `first(…)`: the first
 * element of a list. `hint(…)`: the text of a party before its `::`.
 */
export function valuesAt(payload: JsonValue, path: string): JsonValue[] {
  const [, named, inner = path] = FUNCTION.exec(path) ?? [];
  let values: JsonValue[] = [payload];
  for (const step of inner.split("."))
    values = values.flatMap((value) => (step === "*" ? elementsOf(value) : fieldOf(value, step)));
  if (named === "keys") return values.flatMap(keysOf);
  if (named === "first") return values.flatMap((value) => elementsOf(value).slice(0, 1));
  if (named === "hint")
    return values.map((value) => (typeof value === "string" ? (value.split("::", 1)[0] ?? "") : value));
  return values;
}

/** The texts at a path; a number as its text. Throws an Error that names the path where there is something else. */
export function textsAt(payload: JsonValue, path: string): string[] {
  return valuesAt(payload, path).map((value) => {
    if (typeof value === "string") return value;
    if (typeof value === "number") return String(value);
    throw new Error(`${path} must be a text`);
  });
}

/** The text at a path, which must have one at most. */
export function textAt(payload: JsonValue, path: string): string | undefined {
  const [text, ...more] = textsAt(payload, path);
  if (more.length > 0) throw new Error(`${path} has several values`);
  return text;
}

function fieldOf(value: JsonValue, name: string): JsonValue[] {
  if (!isObject(value) || !Object.hasOwn(value, name)) return [];
  const field = value[name];
  return field === undefined || field === null ? [] : [field];
}

/** A map is an object, or a list of pairs of key and value, as the ledger writes a GenMap. */
function elementsOf(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value.map((element) => (isPair(element) ? element[1] : element));
  return isObject(value) ? Object.values(value) : [];
}

function keysOf(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value.filter(isPair).map(([key]) => key);
  return isObject(value) ? Object.keys(value) : [];
}

const isPair = (value: JsonValue): value is [string, JsonValue] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === "string";

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
