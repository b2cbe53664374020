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
  text.length > MAX_NESTING && isNestedDeeper(Buffer.from(text), MAX_NESTING);

/** Of ASCII, so that no byte of another character in UTF-8 equals one of them. */
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether JSON has more than `limit` objects and lists within each other. What is not JSON may count as either. */
function isNestedDeeper(bytes: Uint8Array, limit: number): boolean {
  if (bytes.length <= limit) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isString = false;
    } else if (byte === QUOTE) isString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  return false;
}
