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
    setSlot(contract, slot, value);
    return value;
  };
}

export interface ContractSlot<T> {
  get(contract: Contract): T | undefined;
  set(contract: Contract, value: T): void;
}

/** Reserves a slot for a value that is set more than once. Call this when a module is loaded. */
export function contractSlot<T extends object>(): ContractSlot<T> {
  const slot = slotCount++;
  return {
    get: (contract) => contract.slots?.[slot] as T | undefined,
    set: (contract, value) => setSlot(contract, slot, value),
  };
}

function setSlot(contract: Contract, slot: number, value: unknown): void {
  contract.slots ??= [];
  contract.slots[slot] = value;
}
