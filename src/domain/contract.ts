import type { SupplyContribution, Template } from "./template.js";

/** A contract that has been created and not archived. */
export interface Contract<F = unknown> {
  /** 138 hexadecimal characters or more, on a real ledger. */
  readonly contractId: string;
  readonly template: Template<F>;
  /** Fully qualified: `packageId:Module:Entity`. */
  readonly templateId: string;
  /** The arguments that created it, as the ledger encodes them: JSON text, which takes far less memory than its objects. */
  readonly payload: string;
  /** What `kind.read` made of the payload. */
  readonly fields: F;
  readonly indexKeys: readonly string[];
  /** Base64, unchanged as the ledger gave it. */
  readonly createdEventBlob: string;
  /** Ledger effective time of creation: RFC 3339 in UTC, as the ledger gave it. */
  readonly createdAt: string;
  /** `createdAt` in microseconds since 1970. */
  readonly createdMicros: number;
  /** Where it is assigned; undefined while it is between synchronizers. */
  readonly synchronizerId: string | undefined;
  /** Grows by one with each reassignment; 0 from creation to the first. */
  readonly reassignmentCounter: number;
  /** What it adds to a sum; undefined where nothing is summed. */
  readonly supply: SupplyContribution | undefined;
  /**
   * What was derived from it and is kept with it: undefined or empty until something is. Nobody touches it but
   * registry/derived.ts, and a store before it gives the contract to anybody.
   */
  slots: unknown[] | undefined;
}

/** A contract of which nothing is kept but what it adds to a sum. It cannot be found. */
export interface CountedOnly extends Pick<Contract, "contractId" | "synchronizerId" | "reassignmentCounter"> {
  readonly supply: SupplyContribution;
}

/** Whether a contract is held, or only counted. */
export function isStored(contract: Contract | CountedOnly): contract is Contract {
  return "template" in contract;
}

/** The package of a template id, `packageId:Module:Entity`. */
export function packageIdOf(templateId: string): string {
  return templateId.split(":", 1)[0] ?? "";
}

/** Newest first by creation, then by contract id: the order a View answers in. */
export function newestFirst(a: Contract, b: Contract): number {
  if (a.createdMicros !== b.createdMicros) return b.createdMicros - a.createdMicros;
  return a.contractId < b.contractId ? -1 : a.contractId > b.contractId ? 1 : 0;
}
