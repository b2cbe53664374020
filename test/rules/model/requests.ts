/** What random scripts ask. */
import type { JsonObject } from "../../../src/domain/json.js";
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
  | { readonly operation: "instrument-configuration"; readonly registrar: string; readonly identifier: JsonObject }
  | { readonly operation: "instruments" | "supported-apis"; readonly registrar: string }
  | { readonly operation: "instrument-configurations" | "operator" };
