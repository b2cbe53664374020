/** The JSON text of a body, whatever its protocol. */
import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { isNestedDeeper, MAX_NESTING } from "../../util/json-text.js";
import { rejection } from "../errors.js";

/** The whitespace of JSON. */
const BLANK = /^[ \t\r\n]*$/;
/** Why a blank body is refused where an operation needs a message. */
export const EMPTY_BODY = "the body is empty; an empty message is {}";
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses a JSON body of any protocol; undefined for a blank one. Ignores a byte order mark; the last of duplicate keys
 * counts. Throws invalid_argument if the bytes are not UTF-8, the text is not JSON or nested too deep, or a string has
 * no UTF-8 form.
 */
export function parseJson(bytes: Buffer): JsonValue | undefined {
  if (isNestedDeeper(bytes, MAX_NESTING))
    throw rejection("MALFORMED_MESSAGE", `the body must not be nested deeper than ${MAX_NESTING} objects and lists`);
  const text = decodeUtf8(bytes);
  const value = parseText(text);
  // Only an escape can make a lone surrogate.
  if (value !== undefined && hasSurrogateEscape(text) && !isWellFormed(value)) {
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

/** Most requests have no escape at all, and need no search by an expression. */
const hasSurrogateEscape = (text: string): boolean => text.includes("\\u") && SURROGATE_ESCAPE.test(text);

function parseText(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    const quoted = quoteLongNumbers(text);
    return quoted === text ? value : (JSON.parse(quoted) as JsonValue);
  } catch (error) {
    if (BLANK.test(text)) return undefined;
    throw rejection(
      "MALFORMED_MESSAGE",
      `the body must be JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Without recursion, which the nesting of a body could exhaust. */
function isWellFormed(value: JsonValue): boolean {
  const pending: JsonValue[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string" && !next.isWellFormed()) return false;
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) for (const element of next) pending.push(element);
    else
      for (const [key, inner] of Object.entries(next)) {
        if (!key.isWellFormed()) return false;
        pending.push(inner);
      }
  }
  return true;
}

/** Longer numbers may lose digits in a double. */
const SAFE_DIGITS = 15;
/** At the start of a value; also within some strings, but not in an id. */
const LONG_NUMBER = /(?:^|[:,[])\s*-?[\d.]{16}/;
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
