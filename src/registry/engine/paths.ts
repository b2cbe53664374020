/** Paths into the payload of a contract. */
import { isObject, type JsonValue } from "../../util/json.js";

const FUNCTION = /^(keys|hint|first)\((.+)\)$/;
const STEPS = /(?:[A-Za-z_]\w*|\*)(?:\.(?:[A-Za-z_]\w*|\*))*/.source;
export const PATH = new RegExp(`^(?:${STEPS}|(?:keys|hint|first)\\(${STEPS}\\))$`);

interface ParsedPath {
  readonly named: string | undefined;
  readonly steps: readonly string[];
  /** Whether it has one value at most. */
  readonly isPlain: boolean;
}

/** Those of the tables that are loaded: a contract must not cost their parsing again. */
const parsed = new Map<string, ParsedPath>();

function parse(path: string): ParsedPath {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const [, named, inner = path] = FUNCTION.exec(path) ?? [];
  const steps = inner.split(".");
  const made = { named, steps, isPlain: named === undefined && !steps.includes("*") };
  parsed.set(path, made);
  return made;
}

/**
 * The values at a path, none where a field is absent or null. `keys(…)`: the keys of a map, as text. `first(…)`: the first
 * element of a list. `hint(…)`: the text of a party before its `::`.
 */
export function valuesAt(payload: JsonValue, path: string): JsonValue[] {
  const { named, steps, isPlain } = parse(path);
  if (isPlain) {
    let value: JsonValue | undefined = payload;
    for (const step of steps) {
      value = fieldOf(value, step);
      if (value === undefined) return [];
    }
    return [value];
  }
  let values: JsonValue[] = [payload];
  for (const step of steps)
    values = values.flatMap((value) => {
      if (step === "*") return elementsOf(value);
      const field = fieldOf(value, step);
      return field === undefined ? [] : [field];
    });
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

function fieldOf(value: JsonValue, name: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
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
