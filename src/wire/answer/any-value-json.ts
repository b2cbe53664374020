/** Values of a choice context in JSON, each with a comma behind it. */
import { derived } from "../../registry/derived.js";
import type { AnyValue, NamedValue } from "../../registry/registry.js";
import { kept } from "./keeping.js";
import { keptEntry } from "./kept-entries.js";
import { addEntries, type EntryWriting } from "./map-entries.js";
import { type Octets, utf8 } from "./octets.js";
import type { Pieces } from "./pieces.js";
import { remembered } from "./remembered.js";

const reference = derived(({ contractId }) => kept(idJson(contractId)));

const entries: EntryWriting = {
  one: keptEntry(({ contractId }, name) => nameJson(name) + idJson(contractId)),
  list: keptEntry(({ contractId }, name) => `${nameJson(name)}${LIST_HEAD}${idJson(contractId).slice(0, -1)}]},`),
  add(pieces, { name, value }) {
    pieces.add(keptName(name));
    addValue(pieces, value);
  },
};

const LIST_HEAD = '{"tag":"AV_List","value":[';
const LIST = kept(LIST_HEAD);
const MAP = kept('{"tag":"AV_Map","value":{');
const END = kept("},");

function addValue(pieces: Pieces, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return pieces.add(value.contract === undefined ? idJson(value.value) : reference(value.contract));
    case "AV_List":
      pieces.add(LIST);
      for (const one of value.value) addValue(pieces, one);
      pieces.close("]", value.value.length === 0);
      return pieces.add(END);
    case "AV_Map":
      pieces.add(MAP);
      addFields(pieces, value.value);
      return pieces.add(END);
    default:
      return pieces.add(`{"tag":"${value.tag}","value":${quoted(value.value)}},`);
  }
}

/** An object of values, behind its bracket. */
export function addFields(pieces: Pieces, values: readonly NamedValue[]): void {
  addEntries(pieces, entries, values);
  pieces.close("}", values.length === 0);
}

const idJson = (contractId: string): Octets => `{"tag":"AV_ContractId","value":${quoted(contractId)}},`;

const quoted = (value: string | boolean): Octets => utf8(JSON.stringify(value));

const nameJson = (name: string): Octets => `${quoted(name)}:`;
const keptName = remembered((name) => kept(nameJson(name)));
