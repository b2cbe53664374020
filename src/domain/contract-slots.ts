/**
 * `Contract.slots` is an opaque list that only this module reads and writes. A module that derives data from contracts,
 * such as an encoder, reserves one slot here when it is loaded; the derived data then lives as long as the contract.
 */
import type { Contract } from "./contract.js";

/** How many slots are reserved in every contract. */
let slotCount = 0;

/**
 * Calls `make` once for each contract and keeps the result in a slot. A reassigned contract is a new object with empty
 * slots. Call this when a module is loaded, not for each request.
 */
export function memoizeByContract<T extends object | string>(
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

/** A slot whose value is set by its owner. */
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
