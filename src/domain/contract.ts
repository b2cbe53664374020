import type { SupplyContribution, Template } from "./template.js";

/** What rules read of a contract that has been created and not archived. */
export interface Contract<F = unknown> {
  /** At least 138 hexadecimal characters on a real ledger. */
  readonly contractId: string;
  readonly template: Template<F>;
  /** Fully qualified: `packageId:Module:Entity`. */
  readonly templateId: string;
  /** What `template.parse` read from the create arguments. */
  readonly fields: F;
  readonly indexKeys: readonly string[];
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
}

/** A contract with its body, as a ledger gives it and a store keeps it. */
export interface StoredContract<F = unknown> extends Contract<F> {
  readonly body: Body;
}

/** What is disclosed of a contract, and shown to operators. It never changes, and rules never read it. */
export interface Body extends BodyTexts {
  /** What `memoizeByContract` keeps: of one contract object, since encodings have its synchronizer. */
  encodings: unknown[] | undefined;
}

/** JSON text takes far less memory than objects. */
export interface BodyTexts {
  /** The create arguments as the ledger encodes them. */
  readonly payload: string;
  /** The views that were read, for `unpackViews`; empty for a contract that is read by its arguments. */
  readonly views: string;
  /** Base64, unchanged from the ledger. */
  readonly createdEventBlob: string;
}

/** The body of a contract. Throws for one whose body was not taken, or that a registry module may have made. */
export function bodyOf(contract: Contract): Body {
  const body = peekBody(contract);
  if (body !== undefined) return body;
  throw new Error(`contract ${contract.contractId} is not one of the view, but the registry disclosed it`);
}

/** The body of a contract; undefined if it is not in memory now. */
export const peekBody = (contract: Contract): Body | undefined => (contract as Partial<StoredContract>).body;

/** Gives a contract its body, or takes it away. For the cache of bodies only. */
export function setBody(contract: Contract, body: Body | undefined): void {
  (contract as { body?: Body | undefined }).body = body;
}

/** The registry discloses only contracts that are not in reassignment. Throws if it failed to. */
export function synchronizerOf(contract: Contract): string {
  if (contract.synchronizerId !== undefined) return contract.synchronizerId;
  throw new Error(`contract ${contract.contractId} is in reassignment, but the registry put it into an answer`);
}

/** A contract that is not stored: only its supply contribution is kept. It cannot be found. */
export interface CountedOnly extends Pick<Contract, "contractId" | "synchronizerId" | "reassignmentCounter"> {
  readonly supply: SupplyContribution;
}

/** Whether a contract is stored, not only counted. */
export function isStored<C extends Contract>(contract: C | CountedOnly): contract is C {
  return "template" in contract;
}

/** The effect of one ledger event on one contract. */
export type Change =
  /** The contract is active on its synchronizer: it was created there or assigned to it. */
  | { readonly active: StoredContract | CountedOnly }
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
 * Calls `make` once for each contract object, and keeps the result with its body; reassignment makes a new one. Call at
 * module load, not per request.
 */
export function memoizeByContract<T extends object | string>(
  make: (contract: Contract, body: Body) => T,
): (contract: Contract) => T {
  const slot = slotCount++;
  return (contract) => {
    const body = bodyOf(contract);
    const cached = body.encodings?.[slot];
    // Only this function writes to this slot.
    if (cached !== undefined) return cached as T;
    const value = make(contract, body);
    body.encodings ??= [];
    body.encodings[slot] = value;
    return value;
  };
}
