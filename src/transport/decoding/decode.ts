/** Bodies as messages. Input of the wrong type is reported by the path of its field. */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { configureTextEncoding } from "@bufbuild/protobuf/wire";
import { ConnectError } from "@connectrpc/connect";
import { plainDecimal } from "../../domain/json.js";
import { formatValue } from "../../domain/errors.js";
import { protoPath, rejection, type Violation } from "../errors.js";
import { checkFieldCount } from "./field-count.js";
import { EMPTY_BODY, isObject, parseJson } from "./json.js";
import { decodePlainBinary, decodePlainJson } from "./plain.js";

const reading = { ignoreUnknownFields: true } as const;

/** Throws invalid_argument with the path of the wrong field. */
export function fromJsonValue(schema: DescMessage, json: JsonValue): Message {
  const read = decimalsAsText(schema, json);
  try {
    return (isObject(read) ? decodePlainJson(schema, read) : undefined) ?? fromJson(schema, read, reading);
  } catch (error) {
    const wrong = isObject(read) ? findWrongType(schema, read) : undefined;
    throw malformed(wrong === undefined ? messageOf(error) : `${wrong.path} ${wrong.problem}`, schema, wrong);
  }
}

/** Throws invalid_argument. */
export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  const json = parseJson(bytes);
  if (json === undefined) throw malformed(EMPTY_BODY);
  return fromJsonValue(schema, json);
}

/** Throws as `fromJsonBytes` where a field has the wrong type. The decoder of connect-es reports all else. */
export function checkTypes(schema: DescMessage, json: JsonValue): void {
  if (isObject(json) && findWrongType(schema, json) !== undefined) fromJsonValue(schema, json);
}

/** Throws invalid_argument. */
export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  checkFieldCount(schema, bytes);
  try {
    return decodePlainBinary(schema, bytes) ?? fromBinary(schema, bytes);
  } catch (error) {
    throw malformed(`parse binary: ${messageOf(error)}`);
  }
}

function malformed(message: string, schema?: DescMessage, wrong?: WrongType): ConnectError {
  return rejection("MALFORMED_MESSAGE", message, { violations: violationsOf(schema, wrong) });
}

function violationsOf(schema: DescMessage | undefined, wrong: WrongType | undefined): Violation[] {
  if (schema === undefined || wrong === undefined) return [];
  return [{ field: protoPath(schema, wrong.path) ?? wrong.path, description: wrong.problem }];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A field of the wrong type. */
interface WrongType {
  /** In JSON names. */
  readonly path: string;
  readonly problem: string;
}

/** The first field of the wrong type: the library reports only some paths, in proto names. */
function findWrongType(schema: DescMessage, json: JsonObject, path = ""): WrongType | undefined {
  for (const field of schema.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (value === undefined || value === null) continue;
    const name = `${path}${field.jsonName}`;
    if (!hasType(field, value)) return wrongType(name, expected(field), value);
    const inner = Array.isArray(value) ? wrongElement(field, value, name) : wrongInner(field, value, name);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function wrongInner(field: DescField, value: JsonValue, name: string): WrongType | undefined {
  const message = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
  if (message === undefined || !isObject(value) || message.typeName.startsWith("google.protobuf.")) return undefined;
  return findWrongType(message, value, `${name}.`);
}

function wrongElement(field: DescField, values: readonly JsonValue[], name: string): WrongType | undefined {
  if (field.fieldKind !== "list") return undefined;
  for (const [index, value] of values.entries()) {
    const path = `${name}[${index}]`;
    const isFit =
      field.listKind === "message"
        ? isObject(value)
        : typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
    if (!isFit) return wrongType(path, field.listKind === "message" ? "an object" : "a string", value);
    const inner = wrongInner(field, value, path);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

const wrongType = (path: string, expectation: string, value: JsonValue): WrongType => ({
  path,
  problem: `must be ${expectation}, but is ${formatValue(value)}`,
});

function hasType(field: DescField, value: JsonValue): boolean {
  switch (field.fieldKind) {
    case "list":
      return Array.isArray(value);
    case "map":
    case "message":
      return isObject(value);
    case "enum":
      return field.enum.values.some(({ name, number }) => name === value || number === value);
    case "scalar":
      if (field.scalar === ScalarType.INT32) return isInt32(value);
      // Other numeric types have several JSON forms, which the library knows.
      return typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
  }
}

const jsonTypes: Readonly<Record<number, "string" | "boolean">> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "boolean",
};

function expected(field: DescField): string {
  switch (field.fieldKind) {
    case "list":
      return "a list";
    case "map":
    case "message":
      return "an object";
    case "enum":
      return `one of ${field.enum.values.map(({ name }) => name).join(", ")}`;
    case "scalar":
      return `a ${jsonTypes[field.scalar as number] ?? "whole number of 32 bits"}`;
  }
}

/** JSON allows a number as a string. */
function isInt32(value: JsonValue): boolean {
  const isNumeric = typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  return isNumeric && Number.isInteger(Number(value)) && Math.abs(Number(value)) <= 0x7fffffff;
}

/*
 * Decimals as JSON numbers, which the JSON of the ledger takes beside strings. A Struct keeps a number as it is; a field
 * of protobuf that holds a decimal is a string.
 */

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

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Makes @bufbuild/protobuf keep U+FEFF at the start of a string, as JSON and the fast path do. By default it takes it
 * for a byte order mark and drops it. Applies to the whole process.
 */
export function keepLeadingByteOrderMarks(): void {
  configureTextEncoding({
    encodeUtf8: (text) => encoder.encode(text),
    decodeUtf8: (bytes, strict) => (strict === true ? strictDecoder : decoder).decode(bytes),
    checkUtf8: (text) => text.isWellFormed(),
  });
}
