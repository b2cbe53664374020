/** The value of `Offledger-Tags`: a list of tags, or where they are too many a bit set of their first digits. */
const MAX_LISTED = 90;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGIT_BITS = 12;
const SET_BYTES = 2 ** SET_DIGIT_BITS / 8;

/** Tags may be given more than once. */
export function tagsHeader(tags: readonly number[]): string {
  // With more bits than tags can be listed, there is no need to find the distinct ones.
  if (tags.length > MAX_LISTED && setBits(tags) > MAX_LISTED) return bitSetText();
  const listed: number[] = [];
  for (const tag of tags) {
    if (listed.includes(tag)) continue;
    if (listed.length === MAX_LISTED) return bitSetText();
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

const bitSet = Buffer.alloc(SET_BYTES);

/**
 * Makes the bit set, and returns how many bits are set. Bit n, counted from the lowest of the first byte, is set for tags
 * whose first digits have the value n.
 */
function setBits(tags: readonly number[]): number {
  bitSet.fill(0);
  let count = 0;
  for (const tag of tags) {
    const bit = tag >>> (32 - SET_DIGIT_BITS);
    const byte = bitSet[bit >> 3] ?? 0;
    const withBit = byte | (1 << (bit & 7));
    if (withBit === byte) continue;
    bitSet[bit >> 3] = withBit;
    count++;
  }
  return count;
}

const bitSetText = (): string => `~${bitSet.toString("base64url")}`;
