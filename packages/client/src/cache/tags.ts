import { base64Decode } from "@bufbuild/protobuf/wire";

/** The tags of a response: a list, or a summary of many. */
export type ResponseTags = readonly string[] | TagBits;

const LIST = /^(?:[0-9a-f]{8}(?:,[0-9a-f]{8})*)?$/;
/** Hexadecimal digits of a tag that select its bit. */
const SELECTING_DIGITS = 3;
const BYTES = 16 ** SELECTING_DIGITS / 8;

/** A set of bits, one for all tags that begin with the same three digits. */
export class TagBits {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** False only if the response does not have the tag. */
  mayHave(tag: string): boolean {
    const bit = Number.parseInt(tag.slice(0, SELECTING_DIGITS), 16);
    return ((this.#bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

/** Parses the header `Offledger-Tags`. Undefined if it is malformed: such a response must not be kept. */
export function parseTags(header: string): ResponseTags | undefined {
  if (LIST.test(header)) return header === "" ? [] : header.split(",");
  if (!header.startsWith("~")) return undefined;
  try {
    const bytes = base64Decode(header.slice(1));
    return bytes.length === BYTES ? new TagBits(bytes) : undefined;
  } catch {
    return undefined;
  }
}
