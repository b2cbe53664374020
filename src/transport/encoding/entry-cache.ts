import { contractSlot } from "../../domain/contract-slots.js";
import type { Contract } from "../../registry/sdk/registry.js";
import { toArena } from "./byte-arena.js";
import type { BinaryString } from "./binary-string.js";

/** More are not kept: a credential may stand for its holder as sender, receiver and issuer, by names with a prefix and without, and by the holder's. */
const MOST = 8;

/** What was written under one name, or under two. Those of a contract are a chain, which takes fewer looks into memory than a table. */
interface Entry {
  readonly name: string;
  readonly second: string | undefined;
  readonly written: Uint8Array;
  readonly next: Entry | undefined;
  /** How many there are from this one on. */
  readonly count: number;
}

/** Gives the entry of a name that refers to a contract, and where there is a second name another of that. */
export type CachedEntryEncoder = (
  contract: Contract,
  name: string,
  second: string | undefined,
) => Uint8Array | BinaryString;

/**
 * Keeps with a contract what is written of it under a name, name and all: nearly
 * every entry of a context refers to one contract, many of them stand under two names,
 * one behind the other, and to put an answer together takes as long as it has parts.
 * To be called when a module is loaded.
 */
export function cacheEntry(write: (contract: Contract, name: string) => BinaryString): CachedEntryEncoder {
  const entries = contractSlot<Entry>();
  return (contract, name, second) => {
    const last = entries.get(contract);
    for (let entry = last; entry !== undefined; entry = entry.next) {
      if (entry.name === name && entry.second === second) return entry.written;
    }
    const binary = second === undefined ? write(contract, name) : write(contract, name) + write(contract, second);
    const count = (last?.count ?? 0) + 1;
    if (count > MOST) return binary;
    const written = toArena(binary);
    entries.set(contract, { name, second, written, next: last, count });
    return written;
  };
}
