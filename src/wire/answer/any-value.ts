/** Values of a choice context in JSON, and in protobuf as the Struct that stands for that JSON. */
import { derived } from "../../registry/derived.js";
import type { AnyValue, NamedValue } from "../../registry/registry.js";
import { type Octets, utf8, whole } from "./octets.js";
import { boolValue, entry, entryOf, listValue, remembered, structValue, textValue, valueField } from "./struct.js";

const referenceJson = derived(({ contractId }) => whole(idJson(contractId)));
const referenceBinary = derived(({ contractId }) => whole(tagged("AV_ContractId", textValue(contractId))));
const referenceField = derived((contract) => whole(valueField(referenceBinary(contract))));

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
  let json = "{";
  for (const { name, value } of inOrder(values)) {
    json += (json.length === 1 ? nameJson(name) : nextNameJson(name)) + anyValueJson(value);
  }
  return `${json}}`;
}

/** A Value: `{"tag": …, "value": …}`. */
export function anyValueBinary(value: AnyValue): Octets {
  if (value.tag === "AV_ContractId" && value.contract !== undefined) return referenceBinary(value.contract);
  return tagged(value.tag, contentBinary(value));
}

/** A Value that holds an object of values. */
export function mapBinary(values: readonly NamedValue[]): Octets {
  let fields = "";
  for (const { name, value } of inOrder(values)) {
    const isReference = value.tag === "AV_ContractId" && value.contract !== undefined;
    fields += entryOf(name, isReference ? referenceField(value.contract) : valueField(anyValueBinary(value)));
  }
  return structValue(fields);
}

function contentBinary({ tag, value }: AnyValue): Octets {
  switch (tag) {
    case "AV_List":
      return listValue(value.map(anyValueBinary));
    case "AV_Map":
      return mapBinary(value);
    case "AV_Bool":
      return boolValue(value);
    default:
      return textValue(value);
  }
}

const tagged = (tag: string, content: Octets): Octets =>
  structValue(entry("tag", textValue(tag)) + entry("value", content));

const idJson = (contractId: string): Octets => `{"tag":"AV_ContractId","value":${quoted(contractId)}}`;

const quoted = (value: string | boolean): Octets => utf8(JSON.stringify(value));

const nameJson = remembered((name) => `${quoted(name)}:`);
const nextNameJson = remembered((name) => `,${quoted(name)}:`);

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
