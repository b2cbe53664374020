/** What is asked of the model and the registry, by which settings, and what the model expects: an answer, or the failures that apply. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Limits } from "./arguments.js";
import type { CredentialChoice } from "./credentials.js";
import type { Identifier } from "./ledger.js";
import type { InstructionChoice } from "./table.js";

export type FactoryOperation = "transfer-factory" | "allocation-factory" | "settlement-factory";
/** The factories for creating an offer or a request, and for burning and minting at once. */
export type IssuanceOperation =
  | "mint-offer/create"
  | "mint-request/create"
  | "burn-offer/create"
  | "burn-request/create"
  | "burn-mint-factory";
/** The choices whose path names a registrar. */
export type RegistrarsChoice = Extract<InstructionChoice, `transfer-instruction/${string}` | `allocation/${string}`>;
export type IssuanceChoice = Exclude<InstructionChoice, RegistrarsChoice>;

export type Request =
  | {
      readonly operation: FactoryOperation;
      readonly registrar: string;
      readonly choiceArguments: JsonObject;
      readonly apiVersion?: "v1" | "v2";
    }
  | {
      readonly operation: IssuanceOperation;
      readonly registrar: string;
      readonly instrument: string;
      readonly holders: readonly string[];
    }
  | { readonly operation: RegistrarsChoice; readonly registrar: string; readonly contractId: string }
  | { readonly operation: IssuanceChoice; readonly contractId: string }
  | {
      readonly operation: "allocation-instruction/accept" | "allocation-instruction/withdraw";
      readonly registrar: string;
      readonly contractId: string;
    }
  | { readonly operation: "instrument-configuration"; readonly registrar: string; readonly identifier: Identifier }
  | { readonly operation: "instruments" | "supported-apis"; readonly registrar: string }
  | { readonly operation: "instrument-configurations" | "operator" };

export type Operation = Request["operation"];

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

export interface Settings {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits: Limits;
  /** Whether a party without the required credentials is 404. */
  readonly credentialsRequired: boolean;
  /** Whether contexts have the entries for app rewards: for all, or for contracts of older packages. */
  readonly rewards: "off" | "on" | { readonly appPackageBefore: string };
  /** Versions by package id; a package that is not listed counts as current. */
  readonly packageVersions: ReadonlyMap<string, string>;
  /**
   * Whether the operator has configured an entry for the blocklist, under the key `blocklist`. Here it is the transfer
   * rule, since the names of the real contracts are not public.
   */
  readonly blocklist: boolean;
  /** Whether a settlement with an allocation that was never seen is 404. */
  readonly rejectsUnknown: boolean;
}
