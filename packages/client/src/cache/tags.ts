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

/** Finds responses by their tags. */
export class TagIndex<T extends { readonly tags: ResponseTags }> {
  readonly #byTag = new Map<string, Set<T>>();
  /** Those with a summary instead of a list: they are few, and each is looked at. */
  readonly #summarized = new Set<T>();

  add(response: T): void {
    if (response.tags instanceof TagBits) {
      this.#summarized.add(response);
      return;
    }
    for (const tag of response.tags) {
      const others = this.#byTag.get(tag);
      if (others === undefined) this.#byTag.set(tag, new Set([response]));
      else others.add(response);
    }
  }

  delete(response: T): void {
    if (response.tags instanceof TagBits) {
      this.#summarized.delete(response);
      return;
    }
    for (const tag of response.tags) {
      const others = this.#byTag.get(tag);
      others?.delete(response);
      if (others?.size === 0) this.#byTag.delete(tag);
    }
  }

  clear(): void {
    this.#byTag.clear();
    this.#summarized.clear();
  }

  /** The responses that have, or may have, one of the tags. */
  find(tags: readonly string[]): ReadonlySet<T> {
    const found = new Set<T>();
    for (const tag of tags) for (const response of this.#byTag.get(tag) ?? []) found.add(response);
    for (const response of this.#summarized) {
      const { tags: own } = response;
      if (own instanceof TagBits && tags.some((tag) => own.mayHave(tag))) found.add(response);
    }
    return found;
  }
}
