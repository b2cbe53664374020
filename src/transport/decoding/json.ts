/** The JSON text of a body, whatever its protocol. */
import { isUtf8 } from "node:buffer";
import type { JsonValue } from "../../domain/json.js";
import { rejection } from "../errors.js";

/** The whitespace of JSON. */
const BLANK = /^[ \t\r\n]*$/;
/** Why a blank body is refused where an operation needs a message. */
export const EMPTY_BODY = "the body is empty; an empty message is {}";
const BYTE_ORDER_MARK = 0xfeff;

export interface JsonLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum sum of object keys and list elements. */
  readonly keys: number;
}

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
  const { exceeded, hasLoneSurrogate, longNumbers } = scanJson(bytes, LIMITS);
  if (exceeded === "depth")
    throw rejection("MALFORMED_MESSAGE", `the body must not be nested deeper than ${LIMITS.depth} objects and lists`);
  if (exceeded === "keys")
    throw rejection("ARGUMENTS_TOO_COMPLEX", `the body has more keys and elements than the limit of ${LIMITS.keys}`);
  const value = parseText(decodeUtf8(quoted(bytes, longNumbers)), bytes);
  if (value !== undefined && hasLoneSurrogate) {
    throw rejection(
      "MALFORMED_MESSAGE",
      "the strings of the body must be well-formed Unicode, but one has half of a surrogate pair",
    );
  }
  return value;
}

/** The text of a JSON body without a byte order mark. Throws invalid_argument if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  // Invalid bytes become the replacement character. A search for it in a string of ASCII returns at once.
  if (text.includes("\ufffd") && !isUtf8(bytes))
    throw rejection("MALFORMED_MESSAGE", "the body must be UTF-8, but has other bytes");
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
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

/** What one pass over the bytes of a JSON text tells. What is not JSON may count as anything. */
export interface JsonScan {
  /** The limit that the text exceeds. The scan ends there. */
  readonly exceeded: keyof JsonLimits | undefined;
  /** Whether a string has an escape of half a surrogate pair; only an escape can make one. */
  readonly hasLoneSurrogate: boolean;
  /** Where each number begins and ends that has more digits than a double holds, and no exponent. */
  readonly longNumbers: readonly number[];
}

/** Of ASCII, so that no byte of another character in UTF-8 equals one of them. */
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [SPACE, PLUS, MINUS, DOT, ZERO, EIGHT, NINE, UPPER_E] = [0x20, 0x2b, 0x2d, 0x2e, 0x30, 0x38, 0x39, 0x45];
const [LOWER_A, LOWER_B, LOWER_C, LOWER_D, LOWER_E, LOWER_F, LOWER_U] = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x75];

/** Before anything is made of a text: parsing costs hundreds of times as much for each byte. */
export function scanJson(bytes: Buffer, { depth: maxDepth, keys: maxKeys }: JsonLimits): JsonScan {
  const longNumbers: number[] = [];
  let hasLoneSurrogate = false;
  let depth = 0;
  let keys = 0;
  let isOpening = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === COMMA) {
      if (++keys > maxKeys) return { exceeded: "keys", hasLoneSurrogate, longNumbers };
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > maxDepth) return { exceeded: "depth", hasLoneSurrogate, longNumbers };
      isOpening = true;
      continue;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--;
      // A comma stands before each but the first.
      if (!isOpening && ++keys > maxKeys) return { exceeded: "keys", hasLoneSurrogate, longNumbers };
    } else if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] !== BACKSLASH) continue;
        const half = surrogateAt(bytes, at);
        if (half === "high" && surrogateAt(bytes, at + ESCAPE_LENGTH) === "low") at += ESCAPE_LENGTH;
        else if (half !== undefined) hasLoneSurrogate = true;
        at++;
      }
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const end = endOfNumber(bytes, at);
      if (end - at > SAFE_DIGITS && isLongNumber(bytes, at, end)) longNumbers.push(at, end);
      at = end - 1;
    }
    isOpening = false;
  }
  return { exceeded: undefined, hasLoneSurrogate, longNumbers };
}

const ESCAPE_LENGTH = "\\ud800".length;

/** Which half of a surrogate pair an escape at an index is: `\ud800` to `\udbff`, or up to `\udfff`; undefined for others. */
function surrogateAt(bytes: Buffer, at: number): "high" | "low" | undefined {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LOWER_U || lowerCase(bytes[at + 2]) !== LOWER_D) return undefined;
  const digit = lowerCase(bytes[at + 3]);
  if (digit >= LOWER_C && digit <= LOWER_F) return "low";
  return digit === EIGHT || digit === NINE || digit === LOWER_A || digit === LOWER_B ? "high" : undefined;
}

/** Of a letter; leaves digits as they are. */
const lowerCase = (byte = 0): number => byte | SPACE;

/** The index after a number, or after what looks like one. */
function endOfNumber(bytes: Buffer, from: number): number {
  for (let end = from + 1; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0;
    const isDigit = byte >= ZERO && byte <= NINE;
    if (!isDigit && byte !== DOT && byte !== LOWER_E && byte !== UPPER_E && byte !== PLUS && byte !== MINUS) return end;
  }
  return bytes.length;
}

/** Longer numbers may lose digits in a double. */
const SAFE_DIGITS = 15;
const NUMBER = /^-?(?=[\d.]{16})(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Whether it is a number with more digits than a double holds, and no key, which JSON does not have without quotes. */
function isLongNumber(bytes: Buffer, from: number, end: number): boolean {
  let next = end;
  while (next < bytes.length && (bytes[next] ?? 0) <= SPACE) next++;
  return bytes[next] !== COLON && NUMBER.test(bytes.toString("latin1", from, end));
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
