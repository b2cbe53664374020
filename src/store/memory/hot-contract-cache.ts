import { GenerationalCache } from "../../util/generational-cache.js";
import type { Contract } from "../../domain/contract.js";

const GENERATION_SIZE = 4_096;

/** The contracts last read by id, in a table that fits the CPU caches. Archived or replaced ones have to be deleted. */
export class HotContractCache extends GenerationalCache<Contract> {
  constructor() {
    // A new string for the id lies next to the others, and does not keep alive a larger string that a caller sent.
    super(GENERATION_SIZE, ({ contractId }) => Buffer.from(contractId).toString());
  }
}
