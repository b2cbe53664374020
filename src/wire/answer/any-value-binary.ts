/** Values of a choice context in protobuf: as the Struct that stands for their JSON. */
import { derived } from "../../registry/derived.js";
import type { AnyValue, Contract, NamedValue } from "../../registry/registry.js";
import { kept } from "./keeping.js";
import { keptEntry } from "./kept-entries.js";
import { addEntries, type EntryWriting } from "./map-entries.js";
import type { Octets } from "./octets.js";
import type { Pieces } from "./pieces.js";
import { before, field, fixed, type Head, inside } from "./protobuf.js";
import { boolValue, entry, entryHead, LIST, listValue, STRUCT, textValue, VALUES } from "./struct.js";

const reference = derived((contract) => kept(referenceTo(contract)));
const referenceTo = ({ contractId }: Contract): Octets => tagged("AV_ContractId", textValue(contractId));

const entries: EntryWriting = {
  one: keptEntry((contract, name) => entry(name, referenceTo(contract))),
  list: keptEntry((contract, name) => entry(name, tagged("AV_List", listValue([referenceTo(contract)])))),
  add(pieces, { name, value }) {
    pieces.addBehind(entryHead(name), () => addValue(pieces, value));
  },
};

/** A Value: `{"tag": …, "value": …}`. */
function addValue(pieces: Pieces, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return pieces.add(
        value.contract === undefined ? tagged(value.tag, textValue(value.value)) : reference(value.contract),
      );
    case "AV_List":
      return pieces.addBehind(listHead, () => {
        for (const one of value.value) pieces.addBehind(elementHead, () => addValue(pieces, one));
      });
    case "AV_Map":
      return pieces.addBehind(mapHead, () => addFields(pieces, value.value));
    case "AV_Bool":
      return pieces.add(tagged(value.tag, boolValue(value.value)));
    default:
      return pieces.add(tagged(value.tag, textValue(value.value)));
  }
}

/** The content of a Struct of values. */
export function addFields(pieces: Pieces, values: readonly NamedValue[]): void {
  addEntries(pieces, entries, values);
}

/** What stands before the content of a value that has a tag. */
const taggedHead = (tag: string): Head =>
  inside(field(STRUCT), fixed(entry("tag", textValue(tag))), entryHead("value"));
const tagged = (tag: string, content: Octets): Octets => before(taggedHead(tag), content);

const listHead = inside(taggedHead("AV_List"), field(LIST));
const mapHead = inside(taggedHead("AV_Map"), field(STRUCT));
const elementHead = field(VALUES);
