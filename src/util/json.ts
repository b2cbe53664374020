/** JSON, as the ledger and callers send it: values, decimals, times, and text of others, which would end the process if it were nested too deep. */

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path of fields; undefined where one is absent, or what should have it is no object. */
export const valueAt = (value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

/** A number as a decimal without exponent, `1e-7` as `0.0000001`, with the digits that JSON.stringify would write. */
export function plainDecimal(value: number): string {
  const text = String(value);
  const [, sign = "", whole = "", fraction = "", exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  // Only numbers below 1e-6 and from 1e21 have an exponent: the point is before or after all digits.
  return sign + (point <= 0 ? `0.${"0".repeat(-point)}${digits}` : digits.padEnd(point, "0"));
}

const UTC_TIME = /^\d{4}-\d{2}-(\d{2})T(\d{2}):\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

/** Converts an RFC 3339 time in UTC to microseconds since 1970; finer digits are cut. Throws an Error on other text. */
export function parseLedgerTime(time: string): number {
  const match = UTC_TIME.exec(time);
  const millis = match === null ? Number.NaN : Date.parse(time);
  const [, day, hour, decimals = ""] = match ?? [];
  // Date.parse reads 30 February as a day in March.
  if (Number.isNaN(millis) || new Date(millis).getUTCDate() !== Number(day) || hour === "24")
    throw new Error(`invalid time, expected a format like 2026-01-31T12:00:00.123456Z: ${time}`);
  const fraction = decimals.padEnd(6, "0").slice(0, 6);
  return Math.floor(millis / 1000) * 1_000_000 + Number(fraction);
}

/** Microseconds since 1970 as an RFC 3339 time in UTC, with six decimals. */
export function formatLedgerTime(micros: number): string {
  const fraction = String(micros % 1000).padStart(3, "0");
  return new Date(Math.floor(micros / 1000)).toISOString().replace("Z", `${fraction}Z`);
}

/** JSON.parse takes some 60 bytes for each level. Shorter text cannot exceed it, and is not searched. */
export const MAX_NESTING = 64 * 1024;

/** Undefined if the text is not JSON, or is nested deeper than MAX_NESTING. */
export function parseJsonText(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether JSON is nested deeper than MAX_NESTING. */
export const isTooDeep = (text: string): boolean =>
  text.length > MAX_NESTING && scanJson(Buffer.from(text), { depth: MAX_NESTING, keys: Infinity }).exceeded === "depth";

export interface JsonLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum sum of object keys and list elements. */
  readonly keys: number;
}

/** What one pass over the bytes of a JSON text tells. What is not JSON may count as anything. */
interface JsonScan {
  /** The limit that the text exceeds. The scan ends there. */
  readonly exceeded: keyof JsonLimits | undefined;
  /** Where each number begins and ends that has more digits than a double holds, and no exponent. */
  readonly longNumbers: readonly number[];
}

/** Of ASCII, so that no byte of another character in UTF-8 equals one of them. */
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [SPACE, PLUS, MINUS, DOT, ZERO, NINE, UPPER_E, LOWER_E] = [0x20, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65];

/** Before anything is made of a text: parsing costs hundreds of times as much for each byte. */
export function scanJson(bytes: Uint8Array, { depth: maxDepth, keys: maxKeys }: JsonLimits): JsonScan {
  const longNumbers: number[] = [];
  let depth = 0;
  let keys = 0;
  let isOpening = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === COMMA) {
      if (++keys > maxKeys) return { exceeded: "keys", longNumbers };
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > maxDepth) return { exceeded: "depth", longNumbers };
      isOpening = true;
      continue;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--;
      // A comma stands before each but the first.
      if (!isOpening && ++keys > maxKeys) return { exceeded: "keys", longNumbers };
    } else if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const end = endOfNumber(bytes, at);
      if (end - at > SAFE_DIGITS && isLongNumber(bytes, at, end)) longNumbers.push(at, end);
      at = end - 1;
    }
    isOpening = false;
  }
  return { exceeded: undefined, longNumbers };
}

/** The index after a number, or after what looks like one. */
function endOfNumber(bytes: Uint8Array, from: number): number {
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
function isLongNumber(bytes: Uint8Array, from: number, end: number): boolean {
  let next = end;
  while (next < bytes.length && (bytes[next] ?? 0) <= SPACE) next++;
  return bytes[next] !== COLON && NUMBER.test(Buffer.from(bytes.subarray(from, end)).toString("latin1"));
}
