/** Values of a choice context in JSON, and in protobuf as the Struct that stands for that JSON. */
import { derived } from "../../registry/derived.js";
import type { AnyValue, NamedValue } from "../../registry/registry.js";
import { type Octets, utf8 } from "./octets.js";
import { delimited, number, text } from "./protobuf.js";

/** The field numbers of google.protobuf: of Value, of Struct and ListValue, and of an entry of a map. */
const STRING = 3;
const BOOL = 4;
const STRUCT = 5;
const LIST = 6;
const FIELDS = 1;
const VALUES = 1;
const KEY = 1;
const VALUE = 2;

const referenceJson = derived(({ contractId }) => idJson(contractId));
const referenceBinary = derived(({ contractId }) => structOf("AV_ContractId", text(STRING, contractId)));

export function anyValueJson(value: AnyValue): Octets {
  switch (value.tag) {
    case "AV_ContractId":
      return value.contract === undefined ? idJson(value.value) : referenceJson(value.contract);
    case "AV_List": {
      let json = "";
      for (const one of value.value) json += (json === "" ? "" : ",") + anyValueJson(one);
      return `{"tag":"AV_List","value":[${json}]}`;
    }
    case "AV_Map":
      return `{"tag":"AV_Map","value":${mapJson(value.value)}}`;
    default:
      return `{"tag":"${value.tag}","value":${quoted(value.value)}}`;
  }
}

/** An object of values. */
export function mapJson(values: readonly NamedValue[]): Octets {
  let json = "";
  for (const { name, value } of inOrder(values)) {
    json += (json === "" ? "" : ",") + nameJson(name) + anyValueJson(value);
  }
  return `{${json}}`;
}

/** A Value: `{"tag": …, "value": …}`. */
export function anyValueBinary(value: AnyValue): Octets {
  if (value.tag === "AV_ContractId" && value.contract !== undefined) return referenceBinary(value.contract);
  return structOf(value.tag, contentBinary(value));
}

/** A Value that holds an object of values. */
export function mapBinary(values: readonly NamedValue[]): Octets {
  let entries = "";
  for (const { name, value } of inOrder(values)) entries += entryBinary(name, anyValueBinary(value));
  return delimited(STRUCT, entries);
}

/** An entry of the fields of a Struct. */
export function entryBinary(name: string, value: Octets): Octets {
  return delimited(FIELDS, nameBinary(name) + delimited(VALUE, value));
}

function contentBinary({ tag, value }: AnyValue): Octets {
  switch (tag) {
    case "AV_List": {
      let list = "";
      for (const one of value) list += delimited(VALUES, anyValueBinary(one));
      return delimited(LIST, list);
    }
    case "AV_Map":
      return mapBinary(value);
    case "AV_Bool":
      return number(BOOL, value ? 1 : 0);
    default:
      return text(STRING, value);
  }
}

const structOf = (tag: string, content: Octets): Octets =>
  delimited(STRUCT, entryBinary("tag", text(STRING, tag)) + entryBinary("value", content));

const idJson = (contractId: string): Octets => `{"tag":"AV_ContractId","value":${quoted(contractId)}}`;

const quoted = (value: string | boolean): Octets => utf8(JSON.stringify(value));

const nameJson = remembered((name) => `${quoted(name)}:`);
const nameBinary = remembered((name) => text(KEY, name));

/** How many names are remembered, and how long they may be: those of entries come again and again, those of a map may be anything. */
const MOST_NAMES = 10_000;
const LONGEST_NAME = 300;

function remembered(write: (name: string) => Octets): (name: string) => Octets {
  const known = new Map<string, Octets>();
  return (name) => {
    let written = known.get(name);
    if (written === undefined) {
      written = write(name);
      if (known.size < MOST_NAMES && name.length <= LONGEST_NAME) known.set(name, written);
    }
    return written;
  };
}

/** As a JavaScript object has its fields, which is how the library writes them: those that look like an index come first. */
function inOrder(values: readonly NamedValue[]): readonly NamedValue[] {
  for (const { name } of values) if (isDigit(name.charCodeAt(0))) return asInObject(values);
  return values;
}

function asInObject(values: readonly NamedValue[]): NamedValue[] {
  const named = values.map((one): [string, NamedValue] => [one.name, one]);
  return Object.values(Object.fromEntries(named));
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
