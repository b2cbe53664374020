import type { Contract } from "./contract.js";

/** How many of the functions below have been made: each has a place of its own in every contract. */
let places = 0;

/**
 * Remembers what `make` gives for a contract as long as there is the contract:
 * what is needed of it again and again is made once, when it is first asked for.
 * A contract that is reassigned is another. To be called when a module is
 * loaded, not for each request.
 */
export function memoizeByContract<T extends object | string>(
  make: (contract: Contract) => T,
): (contract: Contract) => T {
  const place = places++;
  return (contract) => {
    const known = contract.slots?.[place];
    // Nobody else writes to this place.
    if (known !== undefined) return known as T;
    const made = make(contract);
    set(contract, place, made);
    return made;
  };
}

/** What is kept of one sort with a contract. */
export interface ContractSlot<T> {
  /** Undefined until something is set. */
  get(contract: Contract): T | undefined;
  set(contract: Contract, value: T): void;
}

/** The same where there is more than one thing to remember. To be called when a module is loaded. */
export function contractSlot<T extends object>(): ContractSlot<T> {
  const place = places++;
  return {
    get: (contract) => contract.slots?.[place] as T | undefined,
    set: (contract, value) => set(contract, place, value),
  };
}

/** A store may give a contract without a list for it. */
function set(contract: Contract, place: number, value: unknown): void {
  contract.slots ??= [];
  contract.slots[place] = value;
}
