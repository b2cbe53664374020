/** Values of a choice context in JSON, and in protobuf as the Struct that stands for that JSON. */
import type { AnyValue } from "../../registry/registry.js";
import { delimited, tagOf, text } from "./protobuf.js";

/** The field numbers of google.protobuf.Value, and those of an entry of a map. */
const STRING = tagOf(3);
const BOOL = (4 << 3) | 0;
const STRUCT = tagOf(5);
const LIST = tagOf(6);
const KEY = tagOf(1);
const VALUE = tagOf(2);
const FIELDS = tagOf(1);
const VALUES = tagOf(1);

/** What has been written of references to contracts; the rules give the same value for the same contract. */
const references = new WeakMap<AnyValue, { json?: string; binary?: Buffer }>();

function written(value: AnyValue): { json?: string; binary?: Buffer } {
  let known = references.get(value);
  if (known === undefined) references.set(value, (known = {}));
  return known;
}

export function anyValueJson(value: AnyValue): string {
  switch (value.tag) {
    case "AV_List":
      return `{"tag":"AV_List","value":[${value.value.map(anyValueJson).join(",")}]}`;
    case "AV_Map":
      return `{"tag":"AV_Map","value":${mapJson(value.value)}}`;
    case "AV_ContractId":
      return (written(value).json ??= `{"tag":"AV_ContractId","value":${JSON.stringify(value.value)}}`);
    default:
      return `{"tag":"${value.tag}","value":${JSON.stringify(value.value)}}`;
  }
}

/** An object of values. */
export function mapJson(values: Readonly<Record<string, AnyValue>>): string {
  let json = "{";
  for (const name in values) {
    const value = values[name];
    if (value === undefined) continue;
    json += `${json.length > 1 ? "," : ""}${quoted(name)}:${anyValueJson(value)}`;
  }
  return `${json}}`;
}

/** The names of entries come again and again; those of a map come from the ledger, so there may be any number. */
const quotedNames = new Map<string, string>();
const MOST_NAMES = 1_000;

function quoted(name: string): string {
  let json = quotedNames.get(name);
  if (json === undefined) {
    json = JSON.stringify(name);
    if (quotedNames.size < MOST_NAMES) quotedNames.set(name, json);
  }
  return json;
}

/** A Value of google.protobuf: `{"tag": …, "value": …}`. */
export function anyValueBinary(value: AnyValue): Buffer {
  if (value.tag === "AV_ContractId") return (written(value).binary ??= structOf(value));
  return structOf(value);
}

const structOf = (value: AnyValue): Buffer =>
  delimited(STRUCT, [entry("tag", text(STRING, value.tag)), entry("value", valueBinary(value))]);

/** A Value that holds an object of values. */
export function mapBinary(values: Readonly<Record<string, AnyValue>>): Buffer {
  const entries: Buffer[] = [];
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value !== undefined) entries.push(entry(name, anyValueBinary(value)));
  }
  return delimited(STRUCT, entries);
}

/** An entry of the fields of a Struct. */
export function entry(name: string, value: Buffer): Buffer {
  return delimited(FIELDS, [text(KEY, name), delimited(VALUE, [value])]);
}

function valueBinary({ tag, value }: AnyValue): Buffer {
  switch (tag) {
    case "AV_List":
      return delimited(
        LIST,
        value.map((one) => delimited(VALUES, [anyValueBinary(one)])),
      );
    case "AV_Map":
      return mapBinary(value);
    case "AV_Bool":
      return Buffer.from([BOOL, value ? 1 : 0]);
    default:
      return text(STRING, value);
  }
}
