import type { SupplyContribution, Template } from "./template.js";

/** A contract that has been created and not archived. */
export interface Contract<F = unknown> {
  /** At least 138 hexadecimal characters on a real ledger. */
  readonly contractId: string;
  readonly template: Template<F>;
  /** Fully qualified: `packageId:Module:Entity`. */
  readonly templateId: string;
  /** The create arguments as the ledger encodes them. JSON text takes far less memory than objects. */
  readonly payload: string;
  /** What `template.parse` read from the payload. */
  readonly fields: F;
  readonly indexKeys: readonly string[];
  /** Base64, unchanged from the ledger. */
  readonly createdEventBlob: string;
  /** Ledger effective time of creation: RFC 3339 in UTC, unchanged from the ledger. */
  readonly createdAt: string;
  /** `createdAt` in microseconds since 1970. */
  readonly createdMicros: number;
  /** Undefined while the contract is between synchronizers. */
  readonly synchronizerId: string | undefined;
  /** 0 at creation; grows by one with each reassignment. */
  readonly reassignmentCounter: number;
  /** Undefined if the template contributes to no sum. */
  readonly supply: SupplyContribution | undefined;
  /** Derived data, owned by `memoizeByContract`. Only a store may reset it, before it hands the contract out. */
  slots: unknown[] | undefined;
}

/** A contract that is not stored: only its supply contribution is kept. It cannot be found. */
export interface CountedOnly extends Pick<Contract, "contractId" | "synchronizerId" | "reassignmentCounter"> {
  readonly supply: SupplyContribution;
}

/** Whether a contract is stored, not only counted. */
export function isStored(contract: Contract | CountedOnly): contract is Contract {
  return "template" in contract;
}

/** The effect of one ledger event on one contract. */
export type Change =
  /** The contract is active on its synchronizer: it was created there or assigned to it. */
  | { readonly active: Contract | CountedOnly }
  /** The contract has left its synchronizer and is not assigned to another yet. */
  | { readonly unassigned: string; readonly reassignmentCounter: number }
  | { readonly archived: string };

/** The package of a template id, `packageId:Module:Entity`. */
export function packageIdOf(templateId: string): string {
  return templateId.split(":", 1)[0] ?? "";
}

/** The order of a View: newest first by creation time, then ascending by contract id. */
export function newestFirst(a: Contract, b: Contract): number {
  if (a.createdMicros !== b.createdMicros) return b.createdMicros - a.createdMicros;
  return a.contractId < b.contractId ? -1 : a.contractId > b.contractId ? 1 : 0;
}

let slotCount = 0;

/**
 * Calls `make` once for each contract object, and keeps the result as long as the object; reassignment makes a new one. Call
 * at module load, not per request.
 */
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
