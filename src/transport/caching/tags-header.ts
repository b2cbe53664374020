/** The value of `Offledger-Tags`: a list of tags, or where they are too many a bit set of their first digits. */
const MAX_LISTED = 90;
/** Hexadecimal digits that select a bit. */
const SET_DIGITS = 3;
const SET_BYTES = 16 ** SET_DIGITS / 8;

export function tagsHeader(tags: readonly string[]): string {
  return tags.length <= MAX_LISTED ? tags.join(",") : `~${bitSet(tags)}`;
}

/** Bit n, counted from the lowest of the first byte, is set for tags whose first digits have the value n. */
function bitSet(tags: readonly string[]): string {
  const bytes = Buffer.alloc(SET_BYTES);
  for (const tag of tags) {
    const bit = Number.parseInt(tag.slice(0, SET_DIGITS), 16);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bytes.toString("base64url");
}
