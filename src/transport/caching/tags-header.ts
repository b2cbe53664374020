/** The value of `Offledger-Tags`: a list of tags, or where they are too many a bit set of their first digits. */
const MAX_LISTED = 90;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGIT_BITS = 12;
const SET_BYTES = 2 ** SET_DIGIT_BITS / 8;

/** Tags may be given more than once. */
export function tagsHeader(tags: readonly number[]): string {
  const listed: number[] = [];
  for (const tag of tags) {
    if (listed.includes(tag)) continue;
    if (listed.length === MAX_LISTED) return `~${bitSet(tags)}`;
    listed.push(tag);
  }
  return tagList(listed);
}

/** Eight hexadecimal digits each. */
const tagList = (tags: readonly number[]): string => {
  const digits = tags.map((tag) => byteText(tag >> 24) + byteText(tag >> 16) + byteText(tag >> 8) + byteText(tag));
  return digits.join(",");
};

const byteTexts = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const byteText = (byte: number): string => byteTexts[byte & 255] ?? "";

/** Bit n, counted from the lowest of the first byte, is set for tags whose first digits have the value n. */
function bitSet(tags: readonly number[]): string {
  const bytes = Buffer.alloc(SET_BYTES);
  for (const tag of tags) {
    const bit = tag >>> (32 - SET_DIGIT_BITS);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bytes.toString("base64url");
}
