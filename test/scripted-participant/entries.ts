/** The log entries of a scripted ledger, one per update. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

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
  /** The participant is not connected to the source: it never sees the unassignment. */
  readonly fromAfar: boolean;
}

export interface Exercised {
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  readonly actors: readonly string[];
  /** Node id of its last descendant; its own if it has none. */
  readonly lastNodeId: number;
}

/** What the ledger effects of a transaction show in addition to its ACS delta. */
export interface Effect {
  /** Stakeholders, actors, and the witnesses of every parent choice. */
  readonly seenBy: readonly string[];
  /** The contract is created and archived in one transaction, so the ACS delta omits it. */
  readonly isTransient: boolean;
}

/** What an update did to one contract. `nodeId` is its position in the update. */
export type Change = { readonly contract: Contract; readonly nodeId: number } & (
  | ({ readonly type: "create" } & Effect)
  /** "exercise" is a non-consuming choice. */
  | ({ readonly type: "archive" | "exercise"; readonly exercised: Exercised } & Effect)
  | { readonly type: "unassign" | "assign"; readonly reassignment: Reassignment }
);

export interface Entry {
  readonly form: "transaction" | "reassignment" | "topology" | "checkpoint";
  readonly offset: number;
  /** A participant takes further offsets for a transaction, which no stream shows. */
  readonly lastOffset: number;
  readonly updateId: string;
  readonly time: string;
  readonly synchronizerId: string;
  readonly changes: readonly Change[];
  /** The party that a topology transaction adds. */
  readonly party: string | undefined;
}
