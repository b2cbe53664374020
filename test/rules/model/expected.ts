/** What the model expects of a request: an answer, or the failures that apply. */
import type { CredentialChoice } from "./credentials.js";

export type Status = 400 | 404 | 409;

/** Where several failures apply, the specification does not say which of them is reported. */
export interface Failure {
  readonly status: Status;
  /** Texts that the message has to contain. */
  readonly mentions: readonly string[];
}

export type ExpectedValue =
  | { readonly is: "contract"; readonly contractId: string }
  | { readonly is: "contracts by name"; readonly contractIds: ReadonlyMap<string, string> }
  | { readonly is: "flag"; readonly value: boolean }
  /** The credentials of several parties, in this order, in one list. */
  | { readonly is: "credentials"; readonly parties: readonly (readonly CredentialChoice[])[] }
  | {
      readonly is: "credentials by party";
      readonly parties: ReadonlyMap<string, readonly CredentialChoice[]>;
    };

export interface ExpectedContext {
  /** By the full key, in order. */
  readonly values: readonly { readonly key: string; readonly value: ExpectedValue }[];
  /** Contract ids, in order, without those that stand in values. */
  readonly disclosures: readonly string[];
}

export type Expected =
  | { readonly kind: "failure"; readonly failures: readonly Failure[] }
  | {
      readonly kind: "context";
      readonly context: ExpectedContext;
      readonly factoryId?: string;
      readonly transferKind?: "self" | "direct" | "offer";
    }
  /** Configurations, in any order. */
  | { readonly kind: "contracts"; readonly contractIds: readonly string[] }
  | { readonly kind: "instruments"; readonly instruments: readonly ExpectedInstrument[] }
  /** Minor versions by the names of APIs. */
  | { readonly kind: "supported apis"; readonly apis: Readonly<Record<string, number>> }
  | { readonly kind: "party"; readonly party: string };

export interface ExpectedInstrument {
  readonly id: string;
  readonly paused: boolean;
}

export const failed = (status: Status, ...mentions: readonly string[]): Expected => ({
  kind: "failure",
  failures: [{ status, mentions }],
});
