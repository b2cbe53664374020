/** Where two JSON values differ in their fields and types. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

/** One line for each difference, such as `.update.offset: a number is recorded, a string is scripted`. */
export function differences(recorded: JsonValue, scripted: JsonValue, path = ""): string[] {
  const [expected, given] = [typeOf(recorded), typeOf(scripted)];
  if (expected !== given) return [`${path}: ${expected} is recorded, ${given} is scripted`];
  if (Array.isArray(recorded) && Array.isArray(scripted)) {
    if (recorded.length !== scripted.length)
      return [`${path}: ${recorded.length} elements are recorded, ${scripted.length} are scripted`];
    return recorded.flatMap((one, index) => differences(one, scripted[index] ?? null, `${path}[]`));
  }
  if (!isObject(recorded) || !isObject(scripted)) return [];
  const names = new Set([...Object.keys(recorded), ...Object.keys(scripted)]);
  return [...names].flatMap((name) => {
    const [one, other] = [recorded[name], scripted[name]];
    if (one === undefined) return [`${path}.${name}: only scripted`];
    if (other === undefined) return [`${path}.${name}: only recorded`];
    return differences(one, other, `${path}.${name}`);
  });
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typeOf = (value: JsonValue): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;
