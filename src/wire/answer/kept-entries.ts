import { derived } from "../../registry/derived.js";
import type { Contract } from "../../registry/registry.js";
import { kept } from "./keeping.js";
import type { Octets } from "./octets.js";

/** More are not kept: a credential may stand for its holder as sender, receiver and issuer, by names with a prefix and without, and by the holder's. */
const MOST = 8;

/** What was written under one name, or under two. */
interface Entry {
  readonly name: string;
  readonly second: string | undefined;
  readonly written: Uint8Array;
  readonly next: Entry | undefined;
}

/** Those of a contract. A chain, which takes fewer looks into memory than a table. */
class Entries {
  #last: Entry | undefined;
  #count = 0;

  /** Undefined where nothing was written under these names. */
  of(name: string, second: string | undefined): Uint8Array | undefined {
    for (let entry = this.#last; entry !== undefined; entry = entry.next) {
      if (entry.name === name && entry.second === second) return entry.written;
    }
    return undefined;
  }

  /** Gives what is to be sent. */
  keep(name: string, second: string | undefined, octets: Octets): Uint8Array | Octets {
    if (this.#count === MOST) return octets;
    this.#count++;
    const written = kept(octets);
    this.#last = { name, second, written, next: this.#last };
    return written;
  }
}

/** Gives the entry of a name that refers to a contract, and where there is a second name another of that. */
export type KeptEntry = (contract: Contract, name: string, second: string | undefined) => Uint8Array | Octets;

/**
 * Keeps with a contract what is written of it under a name, name and all: nearly
 * every entry of a context refers to one contract, many of them stand under two names,
 * one behind the other, and to put an answer together takes as long as it has parts.
 * To be called when a module is loaded.
 */
export function keptEntry(write: (contract: Contract, name: string) => Octets): KeptEntry {
  const entriesOf = derived(() => new Entries());
  return (contract, name, second) => {
    const entries = entriesOf(contract);
    const known = entries.of(name, second);
    if (known !== undefined) return known;
    const octets = write(contract, name);
    return entries.keep(name, second, second === undefined ? octets : octets + write(contract, second));
  };
}
