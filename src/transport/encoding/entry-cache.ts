import type { Contract } from "../../domain/contract.js";
import { contractSlot } from "../../domain/contract-slots.js";
import type { EncodeReference } from "./map-entries.js";

/** Per contract. A credential has entries as sender, receiver and issuer, with and without prefix, and by party. */
const MAX_ENTRIES = 8;

/** A linked list: it takes fewer memory accesses than a map of this size. */
export interface CachedEntry {
  readonly name: string;
  readonly alias: string | undefined;
  readonly encoded: Uint8Array;
  /** Of the encoding. */
  readonly length: number;
  readonly next: CachedEntry | undefined;
  /** Entries from this one on. */
  readonly count: number;
}

/**
 * Caches, with a contract, the encoding of an entry that refers to it alone, with its alias. Saves 6 µs of an accept in
 * JSON and 8 µs in protobuf, over 15 % of their rows; can go when encoding an entry costs no more than finding it. Call
 * it when a module is loaded.
 */
export function cacheEntry(encode: (contract: Contract, names: readonly string[]) => Uint8Array): EncodeReference {
  const slot = contractSlot<CachedEntry>();
  return (contract, name, alias) => {
    const first = slot.get(contract);
    for (let entry = first; entry !== undefined; entry = entry.next) {
      if (entry.name === name && entry.alias === alias) return entry;
    }
    const encoded = encode(contract, alias === undefined ? [name] : [name, alias]);
    const count = (first?.count ?? 0) + 1;
    if (count > MAX_ENTRIES) return encoded;
    const { length } = encoded;
    const entry: CachedEntry = { name, alias, encoded, length, next: first, count };
    slot.set(contract, entry);
    return entry;
  };
}
