/** Values of a choice context in protobuf: as the Struct that stands for their JSON. */
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, Contract, NamedValue } from "../../registry/sdk/registry.js";
import { toArena } from "./byte-arena.js";
import { cacheEntry } from "./entry-cache.js";
import { addEntries, type EntryWriting } from "./map-entries.js";
import type { BinaryString } from "./binary-string.js";
import type { ChunkList } from "./chunk-list.js";
import { before, field, fixed, type Head, inside } from "./protobuf.js";
import { boolValue, entry, entryHead, LIST, listValue, STRUCT, textValue, VALUES } from "./struct.js";

const reference = memoizeByContract((contract) => toArena(referenceTo(contract)));
const referenceTo = ({ contractId }: Contract): BinaryString => tagged("AV_ContractId", textValue(contractId));

const entries: EntryWriting = {
  one: cacheEntry((contract, name) => entry(name, referenceTo(contract))),
  list: cacheEntry((contract, name) => entry(name, tagged("AV_List", listValue([referenceTo(contract)])))),
  add(chunks, { name, value }) {
    chunks.addLengthPrefixed(entryHead(name), () => addValue(chunks, value));
  },
};

/** A Value: `{"tag": …, "value": …}`. */
function addValue(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return chunks.add(
        value.contract === undefined ? tagged(value.tag, textValue(value.value)) : reference(value.contract),
      );
    case "AV_List":
      return chunks.addLengthPrefixed(listHead, () => {
        for (const one of value.value) chunks.addLengthPrefixed(elementHead, () => addValue(chunks, one));
      });
    case "AV_Map":
      return chunks.addLengthPrefixed(mapHead, () => addFields(chunks, value.value));
    case "AV_Bool":
      return chunks.add(tagged(value.tag, boolValue(value.value)));
    default:
      return chunks.add(tagged(value.tag, textValue(value.value)));
  }
}

/** The content of a Struct of values. */
export function addFields(chunks: ChunkList, values: readonly NamedValue[]): void {
  addEntries(chunks, entries, values);
}

/** What stands before the content of a value that has a tag. */
const taggedHead = (tag: string): Head =>
  inside(field(STRUCT), fixed(entry("tag", textValue(tag))), entryHead("value"));
const tagged = (tag: string, content: BinaryString): BinaryString => before(taggedHead(tag), content);

const listHead = inside(taggedHead("AV_List"), field(LIST));
const mapHead = inside(taggedHead("AV_Map"), field(STRUCT));
const elementHead = field(VALUES);
