/** JSON that others have sent: what is nested too deep would end the process. */

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
export function scanJson(bytes: Buffer, { depth: maxDepth, keys: maxKeys }: JsonLimits): JsonScan {
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
