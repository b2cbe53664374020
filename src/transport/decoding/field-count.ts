/** Bounds the fields of a binary message before a decoder makes an object of each: they cost some microseconds. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { rejection } from "../errors.js";

/** Of all messages within each other. A key of a Struct is four: the entry, the key, the value and its kind. */
const MAX_FIELDS = 20_000;
/** A tag and a value. Smaller messages cannot exceed the limit, and are not searched. */
const MIN_FIELD_BYTES = 2;
/** The decoder refuses what is nested deeper. */
const MAX_DEPTH = 100;

/** Throws invalid_argument for a message with too many fields. Says nothing of one that is malformed. */
export function checkFieldCount(schema: DescMessage, bytes: Uint8Array): void {
  if (bytes.length > MIN_FIELD_BYTES * MAX_FIELDS && hasTooMany(schema, bytes))
    throw rejection("ARGUMENTS_TOO_COMPLEX", `the message has more fields than the limit of ${MAX_FIELDS}`);
}

/** What is not known, or malformed, counts as one. */
function hasTooMany(schema: DescMessage, bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  let fields = 0;
  const count = (inside: Container, end: number, depth: number): void => {
    while (reader.pos < end && ++fields <= MAX_FIELDS) {
      const [number, wireType] = reader.tag();
      const inner = wireType === WireType.LengthDelimited && depth < MAX_DEPTH ? messageIn(inside, number) : undefined;
      if (inner === undefined) reader.skip(wireType, number);
      else count(inner, reader.uint32() + reader.pos, depth + 1);
    }
  };
  try {
    count(schema, bytes.length, 1);
  } catch {
    // The decoder says what is malformed.
  }
  return fields > MAX_FIELDS;
}

type MapField = DescField & { readonly fieldKind: "map" };
type Container = DescMessage | MapField;

/** What a field of a message, or of an entry of a map, has inside. */
function messageIn(inside: Container, number: number): Container | undefined {
  if (inside.kind === "field") return number === 2 ? inside.message : undefined;
  const field = inside.fields.find((one) => one.number === number);
  if (field?.fieldKind === "map") return field;
  return field?.fieldKind === "message" || field?.fieldKind === "list" ? field.message : undefined;
}
