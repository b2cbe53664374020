/** Only this module uses `Contract.slots`. Data derived from a contract lives there as long as the contract. */
import type { Contract } from "./contract.js";

let slotCount = 0;

/** Calls `make` once for each contract object; reassignment makes a new one. Call at module load, not per request. */
export function memoizeByContract<T extends object | string | number>(
  make: (contract: Contract) => T,
): (contract: Contract) => T {
  const slot = slotCount++;
  return (contract) => {
    const cached = contract.slots?.[slot];
    // Only this function writes to this slot.
    if (cached !== undefined) return cached as T;
    const value = make(contract);
    contract.slots ??= [];
    contract.slots[slot] = value;
    return value;
  };
}
