/** JSON as google.protobuf.Struct. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export const VALUE = { null: 1, number: 2, string: 3, bool: 4, struct: 5, list: 6 } as const;
/** Field numbers of Struct, of ListValue, and of an entry of Struct's map. */
export const STRUCT_FIELDS = 1;
export const LIST_VALUES = 1;
export const ENTRY_KEY = 1;
export const ENTRY_VALUE = 2;

export function writeStruct(writer: BinaryWriter, object: JsonObject): void {
  for (const [name, value] of Object.entries(object)) {
    writer.tag(STRUCT_FIELDS, WireType.LengthDelimited).fork();
    writer.tag(ENTRY_KEY, WireType.LengthDelimited).string(name);
    writer.tag(ENTRY_VALUE, WireType.LengthDelimited).fork();
    writeValue(writer, value);
    writer.join().join();
  }
}

function writeValue(writer: BinaryWriter, value: JsonValue): void {
  switch (typeof value) {
    case "string":
      writer.tag(VALUE.string, WireType.LengthDelimited).string(value);
      break;
    case "number":
      writer.tag(VALUE.number, WireType.Bit64).double(value);
      break;
    case "boolean":
      writer.tag(VALUE.bool, WireType.Varint).bool(value);
      break;
    default:
      if (value === null) writer.tag(VALUE.null, WireType.Varint).int32(0);
      else if (Array.isArray(value)) writeList(writer, value);
      else {
        writer.tag(VALUE.struct, WireType.LengthDelimited).fork();
        writeStruct(writer, value);
        writer.join();
      }
  }
}

function writeList(writer: BinaryWriter, values: readonly JsonValue[]): void {
  writer.tag(VALUE.list, WireType.LengthDelimited).fork();
  for (const value of values) {
    writer.tag(LIST_VALUES, WireType.LengthDelimited).fork();
    writeValue(writer, value);
    writer.join();
  }
  writer.join();
}
