/** The value of `Offledger-Tags`: a list of tags, or where they are too many a bit set of their first digits. */
const MAX_LISTED = 90;
const TAG_DIGITS = 8;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGIT_BITS = 12;
const SET_BYTES = 2 ** SET_DIGIT_BITS / 8;

/** Tags may be given more than once. */
export function tagsHeader(tags: readonly number[]): string {
  const candidates = tags.length <= MAX_LISTED ? tags : [...new Set(tags)];
  return candidates.length <= MAX_LISTED ? tagList(candidates) : `~${bitSet(candidates)}`;
}

const HEX_DIGITS = Buffer.from("0123456789abcdef");
const COMMA = ",".charCodeAt(0);
const scratch = Buffer.alloc(MAX_LISTED * (TAG_DIGITS + 1));

/**
 * Lists each of at most MAX_LISTED tags once. Writes bytes: joining the digits as strings costs 5 % of an accept.
 * Can go when that costs less than a microsecond.
 */
function tagList(tags: readonly number[]): string {
  let end = 0;
  for (let index = 0; index < tags.length; index++) {
    const tag = tags[index] ?? 0;
    if (tags.indexOf(tag) < index) continue;
    if (end > 0) scratch[end++] = COMMA;
    for (let shift = (TAG_DIGITS - 1) * 4; shift >= 0; shift -= 4)
      scratch[end++] = HEX_DIGITS[(tag >>> shift) & 15] ?? 0;
  }
  return scratch.toString("latin1", 0, end);
}

/** Bit n, counted from the lowest of the first byte, is set for tags whose first digits have the value n. */
function bitSet(tags: readonly number[]): string {
  const bytes = Buffer.alloc(SET_BYTES);
  for (const tag of tags) {
    const bit = tag >>> (32 - SET_DIGIT_BITS);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bytes.toString("base64url");
}
