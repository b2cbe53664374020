import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { rejection } from "../errors.js";
import { quoteLongNumbers } from "./decimals.js";
import { isNestedDeeper } from "./json-nesting.js";

/** The whitespace of JSON. */
const BLANK = /^[ \t\r\n]*$/;
/** Why a blank body is refused where an operation needs a message. */
export const EMPTY_BODY = "the body is empty; an empty message is {}";
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
const BYTE_ORDER_MARK = 0xfeff;
/** JSON.parse takes some 60 bytes for each level. Smaller bodies cannot exceed it, and are not searched. */
const MAX_NESTING = 64 * 1024;

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
