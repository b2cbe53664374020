/** Values of a choice context in JSON, and in protobuf as the Struct that stands for that JSON. */
import { derived } from "../../registry/derived.js";
import type { AnyValue, Contract, NamedValue } from "../../registry/registry.js";
import { type KeptEntry, keptEntry } from "./kept-entries.js";
import { type Octets, utf8, whole } from "./octets.js";
import { boolValue, entry, listValue, remembered, structValue, textValue } from "./struct.js";

const referenceJson = derived(({ contractId }) => whole(idJson(contractId)));
const referenceBinary = derived(({ contractId }) => whole(tagged("AV_ContractId", textValue(contractId))));

/** Entries that refer to one contract, by itself or as all that a list holds: nearly all are of these forms. */
interface References {
  readonly one: KeptEntry;
  readonly list: KeptEntry;
}

/** In JSON with the comma that stands before every entry but the first. */
const referencesJson: References = {
  one: keptEntry((name, contract) => nameJson(name) + referenceJson(contract)),
  list: keptEntry((name, contract) => nameJson(name) + listJson([referenceJson(contract)])),
};
const referencesBinary: References = {
  one: keptEntry((name, contract) => entry(name, referenceBinary(contract))),
  list: keptEntry((name, contract) => entry(name, listBinary([referenceBinary(contract)]))),
};

function anyValueJson(value: AnyValue): Octets {
  switch (value.tag) {
    case "AV_ContractId":
      return value.contract === undefined ? idJson(value.value) : referenceJson(value.contract);
    case "AV_List":
      return listJson(value.value.map(anyValueJson));
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
    const next = referring(referencesJson, name, value) ?? nameJson(name) + anyValueJson(value);
    json += json.length === 1 ? next.slice(1) : next;
  }
  return `${json}}`;
}

const listJson = (values: readonly Octets[]): Octets => `{"tag":"AV_List","value":[${values.join(",")}]}`;

/** A Value: `{"tag": …, "value": …}`. */
function anyValueBinary(value: AnyValue): Octets {
  switch (value.tag) {
    case "AV_ContractId":
      return value.contract === undefined ? textBinary(value.tag, value.value) : referenceBinary(value.contract);
    case "AV_List":
      return listBinary(value.value.map(anyValueBinary));
    case "AV_Map":
      return tagged(value.tag, mapBinary(value.value));
    case "AV_Bool":
      return tagged(value.tag, boolValue(value.value));
    default:
      return textBinary(value.tag, value.value);
  }
}

/** A Value that holds an object of values. */
export function mapBinary(values: readonly NamedValue[]): Octets {
  let fields = "";
  for (const { name, value } of inOrder(values)) {
    fields += referring(referencesBinary, name, value) ?? entry(name, anyValueBinary(value));
  }
  return structValue(fields);
}

const listBinary = (values: readonly Octets[]): Octets => tagged("AV_List", listValue(values));
const textBinary = (tag: string, value: string): Octets => tagged(tag, textValue(value));

/** The entry, where it is of a form that is kept. */
function referring({ one, list }: References, name: string, value: AnyValue): Octets | undefined {
  if (value.tag === "AV_List" && value.value.length === 1) {
    const contract = contractOf(value.value[0]);
    return contract === undefined ? undefined : list(name, contract);
  }
  const contract = contractOf(value);
  return contract === undefined ? undefined : one(name, contract);
}

const contractOf = (value: AnyValue | undefined): Contract | undefined =>
  value?.tag === "AV_ContractId" ? value.contract : undefined;

const tagged = (tag: string, content: Octets): Octets =>
  structValue(entry("tag", textValue(tag)) + entry("value", content));

const idJson = (contractId: string): Octets => `{"tag":"AV_ContractId","value":${quoted(contractId)}}`;

const quoted = (value: string | boolean): Octets => utf8(JSON.stringify(value));

/** With the comma before it. */
const nameJson = remembered((name) => `,${quoted(name)}:`);

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
