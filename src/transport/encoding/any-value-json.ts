/** Values of a choice context in JSON, each with a comma after it. */
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";
import { type BinaryString, utf8 } from "./binary-string.js";
import type { ChunkList } from "./chunk-list.js";
import { cacheEntry } from "./entry-cache.js";
import { type CachedEncoders, cachedEntry, inObjectOrder } from "./map-entries.js";

// Bytes copy faster than strings encode.
const bytes = (binary: BinaryString): Uint8Array => Buffer.from(binary, "latin1");

const LIST_START = bytes('{"tag":"AV_List","value":[');
const MAP_START = bytes('{"tag":"AV_Map","value":{');
const END = bytes("},");

const reference = memoizeByContract(({ contractId }) => bytes(contractIdJson(contractId)));
const cached: CachedEncoders = {
  reference: cacheEntry(({ contractId }, names) =>
    bytes(names.map((name) => `${quoted(name)}:${contractIdJson(contractId)}`).join("")),
  ),
  list: cacheEntry(({ contractId }, names) => {
    const element = contractIdJson(contractId).slice(0, -1);
    return bytes(names.map((name) => `${quoted(name)}:{"tag":"AV_List","value":[${element}]},`).join(""));
  }),
};
const nameJson = boundedMemoize((name) => bytes(`${quoted(name)}:`));

/** The entries of an object, after its opening brace. */
export function addFields(chunks: ChunkList, values: readonly NamedValue[]): void {
  for (const entry of inObjectOrder(values)) {
    const known = cachedEntry(entry, cached);
    if (known === undefined) addEntry(chunks, entry);
    else chunks.add(known);
  }
  chunks.close("}", values.length === 0);
}

function addEntry(chunks: ChunkList, { name, alias, value }: NamedValue): void {
  chunks.add(nameJson(name));
  addValue(chunks, value);
  if (alias === undefined) return;
  chunks.add(nameJson(alias));
  addValue(chunks, value);
}

function addValue(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return chunks.add(value.contract === undefined ? contractIdJson(value.value) : reference(value.contract));
    case "AV_List":
      chunks.add(LIST_START);
      for (const element of value.value) addValue(chunks, element);
      chunks.close("]", value.value.length === 0);
      return chunks.add(END);
    case "AV_Map":
      chunks.add(MAP_START);
      addFields(chunks, value.value);
      return chunks.add(END);
    default:
      return chunks.add(`{"tag":"${value.tag}","value":${quoted(value.value)}},`);
  }
}

const contractIdJson = (contractId: string): BinaryString => `{"tag":"AV_ContractId","value":${quoted(contractId)}},`;

const quoted = (value: string | boolean): BinaryString => utf8(JSON.stringify(value));
