/**
 * Values of a choice context in protobuf: entries of ChoiceContextData, each an AnyValue. Within lists and maps an
 * AnyValue is the Struct of its JSON, `{"tag": …, "value": …}`.
 */
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";
import { type BinaryString, flatten } from "./binary-string.js";
import { ChunkList } from "./chunk-list.js";
import { cacheEntry } from "./entry-cache.js";
import { type CachedEncoders, cachedEntry, inObjectOrder } from "./map-entries.js";
import { delimited, lengthPrefix, text, varintField } from "./protobuf.js";
import { ENTRY_KEY, ENTRY_VALUE, LIST_VALUES, STRUCT_FIELDS, VALUE } from "./struct.js";

const prefix = (fieldNumber: number) => (length: number) => lengthPrefix(fieldNumber, length);
const entryPrefix = prefix(STRUCT_FIELDS);
const entryValuePrefix = prefix(ENTRY_VALUE);
const structPrefix = prefix(VALUE.struct);
const listPrefix = prefix(VALUE.list);
const elementPrefix = prefix(LIST_VALUES);

/** Field numbers of ChoiceContextData and AnyValue. */
const VALUES = 1;
const TAG = 1;
const PAYLOAD = 2;
const valuesPrefix = prefix(VALUES);
const payloadPrefix = prefix(PAYLOAD);

const tagField = boundedMemoize((tag) => flatten(text(TAG, tag)));
const keyField = boundedMemoize((name) => flatten(text(ENTRY_KEY, name)));
const tagEntry = boundedMemoize((tag) =>
  flatten(delimited(STRUCT_FIELDS, text(ENTRY_KEY, "tag") + delimited(ENTRY_VALUE, text(VALUE.string, tag)))),
);

const cached: CachedEncoders = {
  reference: cacheEntry(({ contractId }, names) => encodeEntries(names, { tag: "AV_ContractId", value: contractId })),
  list: cacheEntry(({ contractId }, names) =>
    encodeEntries(names, { tag: "AV_List", value: [{ tag: "AV_ContractId", value: contractId }] }),
  ),
};

/** The fields of a ChoiceContextData. */
export function addContextData(chunks: ChunkList, values: readonly NamedValue[]): void {
  for (const entry of inObjectOrder(values)) {
    const known = cachedEntry(entry, cached);
    if (known !== undefined) {
      chunks.add(known);
      continue;
    }
    const { name, alias, value } = entry;
    addContextEntry(chunks, name, value);
    if (alias !== undefined) addContextEntry(chunks, alias, value);
  }
}

function addContextEntry(chunks: ChunkList, name: string, value: AnyValue): void {
  addEntry(chunks, valuesPrefix, name, () => {
    chunks.add(tagField(value.tag));
    chunks.addLengthPrefixed(payloadPrefix, () => addPayload(chunks, value));
  });
}

function encodeEntries(names: readonly string[], value: AnyValue): Uint8Array {
  return joined((chunks) => {
    for (const name of names) addContextEntry(chunks, name, value);
  });
}

function joined(add: (chunks: ChunkList) => void): Uint8Array {
  const chunks = new ChunkList();
  add(chunks);
  const bytes = Buffer.allocUnsafe(chunks.length);
  chunks.write(bytes, 0);
  return bytes;
}

type Prefix = (length: number) => BinaryString;

/** An entry of a map with text keys and message values. */
function addEntry(chunks: ChunkList, entryPrefixOf: Prefix, name: string, addContent: () => void): void {
  chunks.addLengthPrefixed(entryPrefixOf, () => {
    chunks.add(keyField(name));
    chunks.addLengthPrefixed(entryValuePrefix, addContent);
  });
}

/** A reference in a list or map with others. Saves 40 % of encoding a settlement; can go with `cacheEntry`. */
const reference = memoizeByContract(({ contractId }) =>
  joined((chunks) => addValue(chunks, { tag: "AV_ContractId", value: contractId })),
);

function addValue(chunks: ChunkList, value: AnyValue): void {
  if (value.tag === "AV_ContractId" && value.contract !== undefined) return chunks.add(reference(value.contract));
  chunks.addLengthPrefixed(structPrefix, () => {
    chunks.add(tagEntry(value.tag));
    addEntry(chunks, entryPrefix, "value", () => addPayload(chunks, value));
  });
}

function addPayload(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_List":
      return chunks.addLengthPrefixed(listPrefix, () => {
        for (const element of value.value) {
          chunks.addLengthPrefixed(elementPrefix, () => addValue(chunks, element));
        }
      });
    case "AV_Map":
      return chunks.addLengthPrefixed(structPrefix, () => addMap(chunks, value.value));
    default:
      return chunks.add(scalar(value.value));
  }
}

function addMap(chunks: ChunkList, values: readonly NamedValue[]): void {
  for (const { name, alias, value } of inObjectOrder(values)) {
    addEntry(chunks, entryPrefix, name, () => addValue(chunks, value));
    if (alias !== undefined) addEntry(chunks, entryPrefix, alias, () => addValue(chunks, value));
  }
}

const scalar = (value: string | boolean): BinaryString =>
  typeof value === "boolean" ? varintField(VALUE.bool, value ? 1 : 0) : text(VALUE.string, value);
