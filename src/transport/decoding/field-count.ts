/** Bounds the fields of a binary message before a decoder makes an object of each: they cost some microseconds. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { rejection } from "../errors.js";

/** Of all messages within each other. A key of a Struct is four: the entry, the key, the value and its kind. */
const MAX_FIELDS = 20_000;
/** A tag and a value. Smaller messages cannot exceed the limit, and are not searched. */
const MIN_FIELD_BYTES = 2;
/** The decoder refuses what is nested deeper. */
const MAX_DEPTH = 100;
const [VARINT, FIXED64, DELIMITED, FIXED32] = [0, 1, 2, 5];

/** Throws invalid_argument for a message with too many fields. Says nothing of one that is malformed. */
export function checkFieldCount(schema: DescMessage, bytes: Uint8Array): void {
  if (bytes.length <= MIN_FIELD_BYTES * MAX_FIELDS) return;
  if (new FieldCount(bytes).exceeds(schema, bytes.length, 1))
    throw rejection("ARGUMENTS_TOO_COMPLEX", `the message has more fields than the limit of ${MAX_FIELDS}`);
}

class FieldCount {
  readonly #bytes: Uint8Array;
  #at = 0;
  #fields = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Counts up to `end`. Of what it does not know, or cannot read, it counts the outermost fields. */
  exceeds(inside: DescMessage | MapField | undefined, end: number, depth: number): boolean {
    while (this.#at < end) {
      if (++this.#fields > MAX_FIELDS) return true;
      const tag = this.#varint();
      const length = this.#lengthOf(tag & 7);
      if (length === undefined || length > end - this.#at) break;
      const next = this.#at + length;
      const inner = (tag & 7) === DELIMITED && depth < MAX_DEPTH ? messageIn(inside, tag >>> 3) : undefined;
      if (inner !== undefined && this.exceeds(inner, next, depth + 1)) return true;
      this.#at = next;
    }
    return false;
  }

  #lengthOf(wireType: number): number | undefined {
    if (wireType === DELIMITED) return this.#varint();
    if (wireType === FIXED64) return 8;
    if (wireType === FIXED32) return 4;
    if (wireType !== VARINT) return undefined;
    this.#varint();
    return 0;
  }

  /** The lower 28 bits: more is no length, and no tag of ours. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (shift < 28) value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  }
}

type MapField = DescField & { readonly fieldKind: "map" };

/** What a field of a message, or of an entry of a map, has inside. */
function messageIn(inside: DescMessage | MapField | undefined, number: number): DescMessage | MapField | undefined {
  if (inside === undefined) return undefined;
  if (inside.kind === "field") return number === 2 ? inside.message : undefined;
  const field = inside.fields.find((one) => one.number === number);
  if (field?.fieldKind === "map") return field;
  return field?.fieldKind === "message" || field?.fieldKind === "list" ? field.message : undefined;
}
