/** What a scripted ledger remembers: one entry for each update. */
import type { JsonObject, JsonValue } from "../src/domain/json.js";

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

/** A choice that was exercised on a contract. */
export interface Exercised {
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  readonly actors: readonly string[];
  /** The node of the last thing that came of it; its own where nothing did. */
  readonly lastNodeId: number;
}

/** What a transaction tells besides to those who ask for its effects. */
export interface Effect {
  /** Stakeholders, actors, and all who see a choice of which it came. */
  readonly seenBy: readonly string[];
  /** The contract is created and archived in the same transaction: who follows active contracts is not told. */
  readonly isTransient: boolean;
}

/** What an update did to one contract. `nodeId` tells its place in the update. */
export type Change = { readonly contract: Contract; readonly nodeId: number } & (
  | ({ readonly did: "create" } & Effect)
  /** "exercise" is a choice that leaves the contract as it is. */
  | ({ readonly did: "archive" | "exercise"; readonly exercised: Exercised } & Effect)
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
