/** The entries of a map of values, whether in JSON or in protobuf. */
import type { AnyValue, Contract, NamedValue } from "../../registry/sdk/registry.js";
import type { CachedEntryEncoder } from "./entry-cache.js";
import type { BinaryString } from "./binary-string.js";
import type { ChunkList } from "./chunk-list.js";

/** How entries are written. */
export interface EntryWriting {
  /** Those that refer to one contract, as nearly all do: by themselves, or as all that a list holds. */
  readonly one: CachedEntryEncoder;
  readonly list: CachedEntryEncoder;
  /** Adds any other. */
  readonly add: (chunks: ChunkList, entry: NamedValue) => void;
}

export function addEntries(chunks: ChunkList, writing: EntryWriting, values: readonly NamedValue[]): void {
  const entries = inOrder(values);
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at];
    if (entry === undefined) continue;
    // The rules give one value to two names that follow each other.
    const next = entries[at + 1];
    const second = next?.value === entry.value ? next.name : undefined;
    const kept = keptOf(writing, entry, second);
    if (kept === undefined) writing.add(chunks, entry);
    else {
      chunks.add(kept);
      if (second !== undefined) at++;
    }
  }
}

/** Undefined where the value is of another form. */
function keptOf(
  { one, list }: EntryWriting,
  { name, value }: NamedValue,
  second: string | undefined,
): Uint8Array | BinaryString | undefined {
  if (value.tag === "AV_List" && value.value.length === 1) {
    const contract = contractOf(value.value[0]);
    return contract === undefined ? undefined : list(contract, name, second);
  }
  const contract = contractOf(value);
  return contract === undefined ? undefined : one(contract, name, second);
}

const contractOf = (value: AnyValue | undefined): Contract | undefined =>
  value?.tag === "AV_ContractId" ? value.contract : undefined;

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
