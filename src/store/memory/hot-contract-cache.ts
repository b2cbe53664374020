import { GenerationalCache } from "../../util/generational-cache.js";
import type { Contract } from "../../domain/contract.js";

const GENERATION_SIZE = 4_096;

/**
 * The contracts that were last read by id. Callers read a few contracts of a large registry again and again. A lookup
 * in the table of all contracts misses the CPU caches several times; this small table stays in them. A contract that is
 * archived or replaced has to be deleted here.
 */
export class HotContractCache extends GenerationalCache<Contract> {
  constructor() {
    // A new string for the id lies next to the others, and does not keep alive a larger string that a caller sent.
    super(GENERATION_SIZE, ({ contractId }) => Buffer.from(contractId).toString());
  }
}
