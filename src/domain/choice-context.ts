/** What a rule answers: the values of a choice context, the contracts to disclose for it, and the factory. */
import type { Contract } from "./contract.js";

export const TRANSFER_KINDS = ["offer", "direct", "self"] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** A value of a choice context, as the token standard's metadata package encodes it. */
export type AnyValue =
  | {
      readonly tag:
        | "AV_Text"
        | "AV_Int"
        | "AV_Decimal"
        | "AV_Date"
        | "AV_Time"
        | "AV_RelTime"
        | "AV_Party"
        | "AV_ContractId";
      readonly value: string;
    }
  | { readonly tag: "AV_Bool"; readonly value: boolean }
  | { readonly tag: "AV_List"; readonly value: readonly AnyValue[] }
  | { readonly tag: "AV_Map"; readonly value: readonly NamedValue[] };

/** A value with its name, which is unique in its list. */
export interface NamedValue {
  readonly name: string;
  readonly value: AnyValue;
}

/** The context to pass to a choice, and the contracts to disclose for it. */
export interface ContextResult {
  readonly values: readonly NamedValue[];
  /** Each once, all on one synchronizer, none in reassignment. */
  readonly disclosed: readonly Contract[];
  /** Contract ids in the values that need not be disclosed, because whoever exercises the choice sees them. */
  readonly visible?: readonly string[] | undefined;
}

export interface FactoryResult extends ContextResult {
  /** Contract id of the factory, which is also disclosed. */
  readonly factoryId: string;
}

export interface TransferFactoryResult extends FactoryResult {
  readonly transferKind: TransferKind;
  /** The instrument that is transferred, as the request names it. For metrics only; "unknown" there if absent. */
  readonly instrumentId?: string | undefined;
}
