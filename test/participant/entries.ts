/** What a scripted ledger remembers: one entry for each update. */
import type { JsonObject } from "../../src/store/store.js";

export interface Contract {
  readonly contractId: string;
  /** `packageId:Module:Entity`. */
  readonly templateId: string;
  readonly packageName: string;
  readonly payload: JsonObject;
  /** Base64. */
  readonly createdEventBlob: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly createdAt: string;
}

export interface Reassignment {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly counter: number;
  /** The participant is not on the source synchronizer: it never sees the contract leave there. */
  readonly fromAfar: boolean;
}

/** What an update did to one contract. `nodeId` tells its place in the update. */
export type Change = { readonly contract: Contract; readonly nodeId: number } & (
  | { readonly did: "create" }
  | { readonly did: "archive" }
  | { readonly did: "unassign" | "assign"; readonly reassignment: Reassignment }
);

export interface Entry {
  readonly form: "transaction" | "reassignment" | "topology" | "checkpoint";
  readonly offset: number;
  readonly updateId: string;
  readonly time: string;
  /** The synchronizer on which it happened. */
  readonly synchronizerId: string;
  readonly changes: readonly Change[];
  /** Of a topology transaction: the party that is hosted here from now on. */
  readonly party: string | undefined;
}
