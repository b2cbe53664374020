/** The value of `Offledger-Tags`: a list of tags, or where they are too many a bit set of their first digits. */
const MAX_LISTED = 90;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGIT_BITS = 12;
const SET_BYTES = 2 ** SET_DIGIT_BITS / 8;

export function tagsHeader(tags: readonly number[]): string {
  return tags.length <= MAX_LISTED ? tagList(tags) : `~${bitSet(tags)}`;
}

const TAG_DIGITS = 8;
const COMMA = 0x2c;
/**
 * Filled and read synchronously. Part of what digest-words.ts saves: joining strings allocates a kilobyte per response.
 */
const list = Buffer.alloc(MAX_LISTED * (TAG_DIGITS + 1));

function tagList(tags: readonly number[]): string {
  let end = 0;
  for (const tag of tags) {
    for (let shift = 28; shift >= 0; shift -= 4) list[end++] = digit((tag >>> shift) & 15);
    list[end++] = COMMA;
  }
  return tags.length === 0 ? "" : list.toString("latin1", 0, end - 1);
}

/** The character of a hexadecimal digit. */
const digit = (value: number): number => (value < 10 ? 0x30 + value : 0x57 + value);

/** Bit n, counted from the lowest of the first byte, is set for tags whose first digits have the value n. */
function bitSet(tags: readonly number[]): string {
  const bytes = Buffer.alloc(SET_BYTES);
  for (const tag of tags) {
    const bit = tag >>> (32 - SET_DIGIT_BITS);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bytes.toString("base64url");
}
