/** Values of a choice context in JSON, each with a comma behind it. */
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import { toArena } from "./byte-arena.js";
import { cacheEntry } from "./entry-cache.js";
import { addEntries, type EntryWriting } from "./map-entries.js";
import { type BinaryString, utf8 } from "./binary-string.js";
import type { ChunkList } from "./chunk-list.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";

const reference = memoizeByContract(({ contractId }) => toArena(idJson(contractId)));

const entries: EntryWriting = {
  one: cacheEntry(({ contractId }, name) => nameJson(name) + idJson(contractId)),
  list: cacheEntry(({ contractId }, name) => `${nameJson(name)}${LIST_HEAD}${idJson(contractId).slice(0, -1)}]},`),
  add(chunks, { name, value }) {
    chunks.add(keptName(name));
    addValue(chunks, value);
  },
};

const LIST_HEAD = '{"tag":"AV_List","value":[';
const LIST = toArena(LIST_HEAD);
const MAP = toArena('{"tag":"AV_Map","value":{');
const END = toArena("},");

function addValue(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return chunks.add(value.contract === undefined ? idJson(value.value) : reference(value.contract));
    case "AV_List":
      chunks.add(LIST);
      for (const one of value.value) addValue(chunks, one);
      chunks.close("]", value.value.length === 0);
      return chunks.add(END);
    case "AV_Map":
      chunks.add(MAP);
      addFields(chunks, value.value);
      return chunks.add(END);
    default:
      return chunks.add(`{"tag":"${value.tag}","value":${quoted(value.value)}},`);
  }
}

/** An object of values, behind its bracket. */
export function addFields(chunks: ChunkList, values: readonly NamedValue[]): void {
  addEntries(chunks, entries, values);
  chunks.close("}", values.length === 0);
}

const idJson = (contractId: string): BinaryString => `{"tag":"AV_ContractId","value":${quoted(contractId)}},`;

const quoted = (value: string | boolean): BinaryString => utf8(JSON.stringify(value));

const nameJson = (name: string): BinaryString => `${quoted(name)}:`;
const keptName = boundedMemoize((name) => toArena(nameJson(name)));
