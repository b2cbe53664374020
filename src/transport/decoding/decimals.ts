/**
 * Decimals as JSON numbers, which the ledger's JSON takes beside strings. A Struct keeps a number as it is; a field of
 * protobuf that holds a decimal is a string.
 */
import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { plainDecimal } from "../../domain/decimal.js";
import { isObject } from "./type-errors.js";

/** The fields with decimals, by their proto names: a string each, or a map of strings. */
const DECIMAL_FIELDS = new Set(["amount", "next_iteration_funding"]);

interface DecimalField {
  readonly field: DescField;
  /** The message that has decimals; undefined for a decimal. */
  readonly inner: DescMessage | undefined;
}

const known = new Map<DescMessage, readonly DecimalField[]>();

/** The message in JSON with text for the numbers in its decimal fields; the same value where there are none. */
export function decimalsAsText(schema: DescMessage, json: JsonValue): JsonValue {
  return isObject(json) ? inMessage(schema, json) : json;
}

function inMessage(schema: DescMessage, json: JsonObject): JsonObject {
  let changed: JsonObject | undefined;
  for (const { field, inner } of decimalFields(schema)) {
    for (const name of new Set([field.jsonName, field.name])) {
      const value = json[name];
      if (value === undefined) continue;
      const text = inField(value, inner);
      if (text !== value) (changed ??= { ...json })[name] = text;
    }
  }
  return changed ?? json;
}

function inField(value: JsonValue, inner: DescMessage | undefined): JsonValue {
  if (Array.isArray(value)) return mapChanged(value, (element) => inField(element, inner));
  if (inner !== undefined) return decimalsAsText(inner, value);
  // A map of decimals.
  if (isObject(value)) {
    const values = Object.values(value);
    const texts = mapChanged(values, asText);
    return texts === values ? value : Object.fromEntries(Object.keys(value).map((key, at) => [key, texts[at] ?? null]));
  }
  return asText(value);
}

const asText = (value: JsonValue): JsonValue =>
  typeof value === "number" && Number.isFinite(value) ? plainDecimal(value) : value;

/** The same list if no element changes. */
function mapChanged(values: JsonValue[], change: (value: JsonValue) => JsonValue): JsonValue[] {
  const changed = values.map(change);
  return changed.some((value, index) => value !== values[index]) ? changed : values;
}

function decimalFields(schema: DescMessage): readonly DecimalField[] {
  const found = known.get(schema);
  if (found !== undefined) return found;
  // Ends the recursion of a message within itself.
  known.set(schema, []);
  const fields = schema.fields.flatMap((field): DecimalField[] => {
    if (DECIMAL_FIELDS.has(field.name) && isText(field)) return [{ field, inner: undefined }];
    const inner = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
    if (inner === undefined || inner.typeName.startsWith("google.")) return [];
    return decimalFields(inner).length > 0 ? [{ field, inner }] : [];
  });
  known.set(schema, fields);
  return fields;
}

const isText = (field: DescField): boolean =>
  (field.fieldKind === "scalar" || field.fieldKind === "map") && field.scalar === ScalarType.STRING;

/** Longer numbers may lose digits in a double. */
const SAFE_DIGITS = 15;
const LONG_NUMBER = /[\d.]{16}/;
const NUMBER = /-?[\d.]+(?:[eE][+-]?\d+)?/y;

/**
 * JSON with the numbers in quotes that have more digits than a double holds, as the ledger writes decimals: they keep
 * their digits. `text` must be JSON. The same text where there are none.
 */
export function quoteLongNumbers(text: string): string {
  if (!LONG_NUMBER.test(text)) return text;
  let quoted = "";
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? "";
    if (character === '"') at = endOfString(text, at);
    else if (character === "-" || (character >= "0" && character <= "9")) {
      NUMBER.lastIndex = at;
      const [number = character] = NUMBER.exec(text) ?? [];
      if (number.length > SAFE_DIGITS && !/[eE]/.test(number)) {
        quoted += `${text.slice(copied, at)}"${number}"`;
        copied = at + number.length;
      }
      at += number.length;
    } else at++;
  }
  return quoted + text.slice(copied);
}

/** The index after a string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === '"') return end + 1;
  }
  return text.length;
}
