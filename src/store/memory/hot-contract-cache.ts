import { GenerationalCache } from "../../util/generational-cache.js";
import type { Contract } from "../../domain/contract.js";

const GENERATION_SIZE = 4_096;

/**
 * The contracts last read by id, in a table that fits the CPU caches. Archived or replaced ones must be deleted. Gains
 * 12 % of an accept with 100,000 contracts; can go when a lookup in the whole table costs no more.
 */
export class HotContractCache extends GenerationalCache<Contract> {
  constructor() {
    // A new string for the id lies next to the others, and does not keep alive a larger string that a caller sent.
    super(GENERATION_SIZE, ({ contractId }) => Buffer.from(contractId).toString());
  }
}
