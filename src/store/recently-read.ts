import type { Contract } from "./store.js";

/** How many contracts a generation has. */
const GENERATION = 4_096;

/**
 * The contracts that were read last by their ids. What is asked for is a small
 * part of a large registry, and is asked for again: the same few contracts by the
 * hundred while their choices are exercised. In the one large table each reading
 * misses the processor's caches several times, for the table, for the id that
 * stands there and for its text; here all of it lies together. A contract that has
 * not been read for a generation or two is forgotten.
 */
export class RecentlyRead {
  #young = new Map<string, Contract>();
  #old = new Map<string, Contract>();

  get(contractId: string): Contract | undefined {
    const young = this.#young.get(contractId);
    if (young !== undefined) return young;
    const old = this.#old.get(contractId);
    if (old !== undefined) this.add(old);
    return old;
  }

  add(contract: Contract): void {
    if (this.#young.size === GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    // A copy of the id lies with the others, and is no part of a text that a caller sent.
    this.#young.set(Buffer.from(contract.contractId).toString(), contract);
  }

  /** To be called when a contract is archived, or another takes its place. */
  forget(contractId: string): void {
    this.#young.delete(contractId);
    this.#old.delete(contractId);
  }

  /** How many are kept, some of them twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
