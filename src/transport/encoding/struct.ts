/** JSON in protobuf: google.protobuf.Struct, Value and ListValue. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type BinaryString, flatten } from "./binary-string.js";
import { before, delimited, double, field, fixed, type Head, inside, numberField, text } from "./protobuf.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";

/** The field numbers of Value, of Struct and ListValue, and of an entry of a map. */
const NULL = 1;
const NUMBER = 2;
const STRING = 3;
const BOOL = 4;
export const STRUCT = 5;
export const LIST = 6;
const FIELDS = 1;
export const VALUES = 1;
const KEY = 1;
const VALUE = 2;

/** A Value of each kind. */
export const textValue = (value: string): BinaryString => text(STRING, value);
export const boolValue = (value: boolean): BinaryString => numberField(BOOL, value ? 1 : 0);

export function listValue(values: Iterable<BinaryString>): BinaryString {
  let list = "";
  for (const value of values) list += delimited(VALUES, value);
  return delimited(LIST, list);
}

/** What stands before the value of an entry of the fields of a Struct. */
export const entryHead = boundedMemoize((name): Head => inside(field(FIELDS), fixed(nameField(name)), field(VALUE)));
const nameField = (name: string): BinaryString => flatten(text(KEY, name));

/** An entry of the fields of a Struct. */
export const entry = (name: string, value: BinaryString): BinaryString => before(entryHead(name), value);

/** The content of a Struct. */
export function structOf(object: JsonObject): BinaryString {
  let fields = "";
  for (const [name, value] of Object.entries(object)) fields += entry(name, valueOf(value));
  return fields;
}

function valueOf(value: JsonValue): BinaryString {
  switch (typeof value) {
    case "string":
      return textValue(value);
    case "number":
      return double(NUMBER, value);
    case "boolean":
      return boolValue(value);
    default:
      if (value === null) return numberField(NULL, 0);
      return Array.isArray(value) ? listValue(value.map(valueOf)) : delimited(STRUCT, structOf(value));
  }
}
