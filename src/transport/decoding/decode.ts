/** Bodies as messages: their JSON text, and JSON or protobuf as a message. Input of the wrong type is reported by the path of its field. */
import { isUtf8 } from "node:buffer";
import { type DescField, type DescMessage, fromBinary, fromJson, type Message, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, configureTextEncoding, WireType } from "@bufbuild/protobuf/wire";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { formatValue } from "../../domain/errors.js";
import { isObject, type JsonObject, type JsonValue, plainDecimal, type JsonLimits, scanJson } from "../../util/json.js";
import { protoPath, rejection } from "../errors.js";
import { decodeBinaryFast, decodeJsonFast } from "./fast-path.js";

const reading = { ignoreUnknownFields: true } as const;

/** Throws invalid_argument with the path of the wrong field. */
export function fromJsonValue(schema: DescMessage, json: JsonValue): Message {
  try {
    return decodeJson(schema, json);
  } catch {
    // Some clients write decimals as numbers, as the JSON of the ledger allows.
    const read = decimalsAsText(schema, json);
    try {
      return decodeJson(schema, read);
    } catch (error) {
      const wrong = isObject(read) ? findWrongType(schema, read) : undefined;
      throw malformed(wrong === undefined ? messageOf(error) : `${wrong.path} ${wrong.problem}`, schema, wrong);
    }
  }
}

const decodeJson = (schema: DescMessage, json: JsonValue): Message =>
  (isObject(json) ? decodeJsonFast(schema, json) : undefined) ?? fromJson(schema, json, reading);

/** Throws invalid_argument. */
export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  const json = parseJson(bytes);
  if (json === undefined) throw malformed(EMPTY_BODY);
  return fromJsonValue(schema, json);
}

/** Throws invalid_argument. */
export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  checkFieldCount(schema, bytes);
  try {
    return decodeBinaryFast(schema, bytes) ?? fromBinary(schema, bytes);
  } catch (error) {
    throw malformed(`parse binary: ${messageOf(error)}`);
  }
}

/** Of all messages within each other: a decoder makes an object of each field, in some microseconds. A key of a Struct is four: the entry, the key, the value and its kind. */
const MAX_FIELDS = 20_000;
/** A tag and a value. Smaller messages cannot exceed the limit, and are not searched. */
const MIN_FIELD_BYTES = 2;
/** The decoder refuses what is nested deeper. */
const MAX_MESSAGE_DEPTH = 100;

/** Throws invalid_argument for a message with too many fields. Says nothing of one that is malformed. */
function checkFieldCount(schema: DescMessage, bytes: Uint8Array): void {
  if (bytes.length > MIN_FIELD_BYTES * MAX_FIELDS && hasTooMany(schema, bytes))
    throw rejection("ARGUMENTS_TOO_COMPLEX", `the message has more fields than the limit of ${MAX_FIELDS}`);
}

/** What is not known, or malformed, counts as one. */
function hasTooMany(schema: DescMessage, bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  let fields = 0;
  const count = (inside: Container, end: number, depth: number): void => {
    while (reader.pos < end && ++fields <= MAX_FIELDS) {
      const [number, wireType] = reader.tag();
      const inner =
        wireType === WireType.LengthDelimited && depth < MAX_MESSAGE_DEPTH ? messageIn(inside, number) : undefined;
      if (inner === undefined) reader.skip(wireType, number);
      else count(inner, reader.uint32() + reader.pos, depth + 1);
    }
  };
  try {
    count(schema, bytes.length, 1);
  } catch {
    // The decoder says what is malformed.
  }
  return fields > MAX_FIELDS;
}

type MapField = DescField & { readonly fieldKind: "map" };
type Container = DescMessage | MapField;

function messageIn(inside: Container, number: number): Container | undefined {
  if (inside.kind === "field") return number === 2 ? inside.message : undefined;
  const field = inside.fields.find((one) => one.number === number);
  if (field?.fieldKind === "map") return field;
  return field?.fieldKind === "message" || field?.fieldKind === "list" ? field.message : undefined;
}

function malformed(message: string, schema?: DescMessage, wrong?: WrongType): ConnectError {
  if (schema === undefined || wrong === undefined) return rejection("MALFORMED_MESSAGE", message);
  const violation = { field: protoPath(schema, wrong.path) ?? wrong.path, description: wrong.problem };
  return rejection("MALFORMED_MESSAGE", message, { violations: [violation] });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface WrongType {
  /** In JSON names. */
  readonly path: string;
  readonly problem: string;
}

/** The first field of the wrong type: the library reports only some paths, in proto names. */
function findWrongType(schema: DescMessage, json: JsonObject, path = ""): WrongType | undefined {
  for (const field of schema.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (value === undefined || value === null || isReadable(field, value)) continue;
    const wrong = findInside(field, value, `${path}${field.jsonName}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isReadable({ parent, jsonName }: DescField, value: JsonValue): boolean {
  try {
    fromJson(parent, { [jsonName]: value }, reading);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong in a field that cannot be read: the first of its elements, or a field of its message, or itself. */
function findInside(field: DescField, value: JsonValue, path: string): WrongType | undefined {
  if (field.fieldKind === "list" && Array.isArray(value)) {
    const at = value.findIndex((element) => !isReadable(field, [element]));
    return findInElement(field, value[at] ?? null, `${path}[${at}]`);
  }
  if (field.fieldKind === "map" && isObject(value)) {
    const found = Object.entries(value).find(([key, element]) => !isReadable(field, { [key]: element }));
    return found && findInElement(field, found[1], `${path}.${found[0]}`);
  }
  if (field.fieldKind === "message" && isObject(value)) return findWrongType(field.message, value, `${path}.`);
  return wrongType(path, expected(field), value);
}

function findInElement({ message }: DescField, value: JsonValue, path: string): WrongType | undefined {
  if (message !== undefined && isObject(value)) return findWrongType(message, value, `${path}.`);
  return wrongType(path, message === undefined ? "a string" : "an object", value);
}

const wrongType = (path: string, expectation: string, value: JsonValue): WrongType => ({
  path,
  problem: `must be ${expectation}, but is ${formatValue(value)}`,
});

function expected(field: DescField): string {
  switch (field.fieldKind) {
    case "list":
      return "a list";
    case "map":
      return "an object";
    case "message":
      return field.message.typeName === TimestampSchema.typeName ? "a time such as 2026-01-31T12:00:00Z" : "an object";
    case "enum":
      return `one of ${field.enum.values.map(({ name }) => name).join(", ")}`;
    case "scalar":
      return NAMES[field.scalar] ?? "a whole number of 32 bits";
  }
}

const NAMES: Partial<Record<ScalarType, string>> = {
  [ScalarType.STRING]: "a string",
  [ScalarType.BOOL]: "a boolean",
};

/** Fields of protobuf with decimals, by their proto names: a text each, or a map of texts. A Struct keeps its numbers. */
const DECIMAL_FIELDS = new Set(["amount", "next_iteration_funding"]);

/** The message in JSON with text for the numbers in its decimal fields. */
function decimalsAsText(schema: DescMessage, json: JsonValue): JsonValue {
  if (!isObject(json) || schema.typeName.startsWith("google.")) return json;
  const texts = { ...json };
  for (const field of schema.fields) {
    const inner = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
    for (const name of [field.jsonName, field.name]) {
      const value = json[name];
      if (value === undefined) continue;
      if (DECIMAL_FIELDS.has(field.name)) texts[name] = numbersAsText(value);
      else if (inner === undefined) continue;
      else if (Array.isArray(value)) texts[name] = value.map((one) => decimalsAsText(inner, one));
      else texts[name] = decimalsAsText(inner, value);
    }
  }
  return texts;
}

function numbersAsText(value: JsonValue): JsonValue {
  if (typeof value === "number" && Number.isFinite(value)) return plainDecimal(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, numbersAsText(one)]));
}

const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Makes @bufbuild/protobuf keep U+FEFF at the start of a text, as JSON does: by default it takes it for a byte order mark
 * and drops it. A Buffer also takes a third of the time for short texts. Applies to the whole process.
 */
export function configureTexts(): void {
  configureTextEncoding({
    encodeUtf8: (text) => Buffer.from(text),
    decodeUtf8: (bytes, strict) =>
      strict === true
        ? strictDecoder.decode(bytes)
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
    checkUtf8: (text) => text.isWellFormed(),
  });
}

const BLANK = /^[ \t\r\n]*$/;
/** Why a blank body is refused where an operation needs a message. */
const EMPTY_BODY = "the body is empty; an empty message is {}";
const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;

/**
 * To parse a key, to check it and to make a message of it takes up to five microseconds by the longest way. The largest
 * settlement by default has some 2,000.
 */
const LIMITS: JsonLimits = { depth: 1_000, keys: 5_000 };

/**
 * Parses a JSON body of any protocol; undefined for a blank one. Ignores a byte order mark; the last of duplicate keys
 * counts. Numbers that have more digits than a double holds become strings, as the ledger writes decimals: they keep
 * their digits. Throws invalid_argument if the bytes are not UTF-8, the text is not JSON or exceeds the limits, or a
 * string has no UTF-8 form.
 */
export function parseJson(bytes: Buffer): JsonValue | undefined {
  const { exceeded, longNumbers } = scanJson(bytes, LIMITS);
  if (exceeded === "depth")
    throw rejection("MALFORMED_MESSAGE", `the body must not be nested deeper than ${LIMITS.depth} objects and lists`);
  if (exceeded === "keys")
    throw rejection("ARGUMENTS_TOO_COMPLEX", `the body has more keys and elements than the limit of ${LIMITS.keys}`);
  const text = decodeUtf8(quoted(bytes, longNumbers));
  const value = parseText(text, bytes);
  // Only an escape makes half of a surrogate pair.
  if (value !== undefined && /\\ud/i.test(text) && !isWellFormed(value)) {
    throw rejection(
      "MALFORMED_MESSAGE",
      "the strings of the body must be well-formed Unicode, but one has half of a surrogate pair",
    );
  }
  return value;
}

/** The text of a JSON body without a byte order mark. Throws invalid_argument if the bytes are not UTF-8. */
function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  // Invalid bytes become the replacement character. A search for it in a string of ASCII returns at once.
  if (text.includes("\ufffd") && !isUtf8(bytes))
    throw rejection("MALFORMED_MESSAGE", "the body must be UTF-8, but has other bytes");
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, one]) => key.isWellFormed() && isWellFormed(one));
}

/** `bytes` are the text as it was sent, which an error is about. */
function parseText(text: string, bytes: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    if (BLANK.test(text)) return undefined;
    throw rejection("MALFORMED_MESSAGE", `the body must be JSON: ${problemOf(decodeUtf8(bytes))}`);
  }
}

function problemOf(text: string): string {
  try {
    JSON.parse(text);
    return "a number is malformed";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The text with a quote at each of the places, which ascend. */
function quoted(bytes: Buffer, places: readonly number[]): Buffer {
  if (places.length === 0) return bytes;
  const result = Buffer.allocUnsafe(bytes.length + places.length);
  let from = 0;
  let to = 0;
  for (const place of places) {
    to += bytes.copy(result, to, from, place);
    result[to++] = QUOTE;
    from = place;
  }
  bytes.copy(result, to, from);
  return result;
}
