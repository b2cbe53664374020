import { GenerationalCache } from "../../util/generational-cache.js";
import type { Contract } from "../../domain/contract.js";

/** How many contracts a generation has. */
const GENERATION = 4_096;

/**
 * The contracts that were read last by their ids. What is asked for is a small
 * part of a large registry, and is asked for again: the same few contracts by the
 * hundred while their choices are exercised. In the one large table each reading
 * misses the processor's caches several times, for the table, for the id that
 * stands there and for its text; here all of it lies together. A contract has to
 * be forgotten when it is archived, or another takes its place.
 */
export class HotContractCache extends GenerationalCache<Contract> {
  constructor() {
    // A copy of the id lies with the others, and is no part of a text that a caller sent.
    super(GENERATION, ({ contractId }) => Buffer.from(contractId).toString());
  }
}
