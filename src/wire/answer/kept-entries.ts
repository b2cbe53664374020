import { derived } from "../../registry/derived.js";
import type { Contract } from "../../registry/registry.js";
import { type Octets, whole } from "./octets.js";

/** More are not kept: a credential may stand for its holder as sender, receiver and issuer, by names with a prefix and without, and by the holder's. */
const MOST = 8;

/** What was written under a name. */
interface Entry {
  readonly name: string;
  readonly written: Octets;
  readonly next: Entry | undefined;
}

/** Those of a contract. A chain, which takes fewer looks into memory than a table. */
class Entries {
  #last: Entry | undefined;
  #count = 0;

  /** Undefined where nothing was written under it. */
  of(name: string): Octets | undefined {
    for (let entry = this.#last; entry !== undefined; entry = entry.next) {
      if (entry.name === name) return entry.written;
    }
    return undefined;
  }

  /** Gives what is to be written. */
  keep(name: string, written: Octets): Octets {
    if (this.#count === MOST) return written;
    this.#count++;
    this.#last = { name, written: whole(written), next: this.#last };
    return this.#last.written;
  }
}

/** Gives the entry of a name that refers to a contract. */
export type KeptEntry = (name: string, contract: Contract) => Octets;

/**
 * Keeps with a contract what is written of it under a name, name and all: nearly
 * every entry of a context refers to one contract, and to put an answer together
 * takes as long as it has parts. To be called when a module is loaded.
 */
export function keptEntry(write: KeptEntry): KeptEntry {
  const entriesOf = derived(() => new Entries());
  return (name, contract) => {
    const entries = entriesOf(contract);
    return entries.of(name) ?? entries.keep(name, write(name, contract));
  };
}
