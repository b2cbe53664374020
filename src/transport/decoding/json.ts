/** The JSON text of a body, whatever its protocol. */
import { isUtf8 } from "node:buffer";
import type { JsonValue } from "../../domain/json.js";
import { type JsonLimits, scanJson } from "../../util/json-text.js";
import { rejection } from "../errors.js";

/** The whitespace of JSON. */
const BLANK = /^[ \t\r\n]*$/;
/** Why a blank body is refused where an operation needs a message. */
export const EMPTY_BODY = "the body is empty; an empty message is {}";
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
