/** JSON in protobuf: google.protobuf.Struct, Value and ListValue. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Octets, whole } from "./octets.js";
import { delimited, double, number, text } from "./protobuf.js";

/** The field numbers of Value, of Struct and ListValue, and of an entry of a map. */
const NULL = 1;
const NUMBER = 2;
const STRING = 3;
const BOOL = 4;
const STRUCT = 5;
const LIST = 6;
const FIELDS = 1;
const VALUES = 1;
const KEY = 1;
const VALUE = 2;

/** A Value of each kind. */
export const textValue = (value: string): Octets => text(STRING, value);
export const boolValue = (value: boolean): Octets => number(BOOL, value ? 1 : 0);
/** `fields` are entries, one behind the other. */
export const structValue = (fields: Octets): Octets => delimited(STRUCT, fields);

export function listValue(values: Iterable<Octets>): Octets {
  let list = "";
  for (const value of values) list += delimited(VALUES, value);
  return delimited(LIST, list);
}

/** An entry of the fields of a Struct. */
export const entry = (name: string, value: Octets): Octets =>
  delimited(FIELDS, nameField(name) + delimited(VALUE, value));

/** The content of a Struct. */
export function structOf(object: JsonObject): Octets {
  let fields = "";
  for (const [name, value] of Object.entries(object)) fields += entry(name, valueOf(value));
  return fields;
}

function valueOf(value: JsonValue): Octets {
  switch (typeof value) {
    case "string":
      return textValue(value);
    case "number":
      return double(NUMBER, value);
    case "boolean":
      return boolValue(value);
    default:
      if (value === null) return number(NULL, 0);
      return Array.isArray(value) ? listValue(value.map(valueOf)) : structValue(structOf(value));
  }
}

/** How many names are remembered, and how long they may be: most come again and again, those of a map may be anything. */
const MOST_NAMES = 10_000;
const LONGEST_NAME = 300;

const nameField = remembered((name) => text(KEY, name));

/** Remembers what is written of names. */
export function remembered(write: (name: string) => Octets): (name: string) => Octets {
  const known = new Map<string, Octets>();
  return (name) => {
    let written = known.get(name);
    if (written === undefined) {
      written = whole(write(name));
      if (known.size < MOST_NAMES && name.length <= LONGEST_NAME) known.set(name, written);
    }
    return written;
  };
}
