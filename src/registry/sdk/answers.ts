import type { Contract } from "../../domain/contract.js";
import type { InstrumentIdentifier } from "./instruments.js";
import type { Warning, WarningKind } from "./warnings.js";

/** A value of a choice context, as the token standard's metadata package encodes it. */
export type AnyValue =
  | {
      readonly tag: "AV_Text" | "AV_Int" | "AV_Decimal" | "AV_Date" | "AV_Time" | "AV_RelTime" | "AV_Party";
      readonly value: string;
    }
  /** A contract id. `contract` is set if the answer discloses the contract. */
  | { readonly tag: "AV_ContractId"; readonly value: string; readonly contract?: Contract }
  | { readonly tag: "AV_Bool"; readonly value: boolean }
  | { readonly tag: "AV_List"; readonly value: readonly AnyValue[] }
  | { readonly tag: "AV_Map"; readonly value: readonly NamedValue[] };

/** A value with its names, which are unique in their list. */
export interface NamedValue {
  readonly name: string;
  /** A second name under which the value stands. */
  readonly alias?: string | undefined;
  readonly value: AnyValue;
}

/** The context to pass to a choice, and the contracts to disclose for it. */
export interface ContextAnswer {
  readonly values: readonly NamedValue[];
  /** Each once, all on one synchronizer, none in reassignment. */
  readonly disclosed: readonly Contract[];
  /** Contract ids in the values that need not be disclosed, because whoever exercises the choice sees them. */
  readonly visible?: readonly string[] | undefined;
}

export interface FactoryAnswer extends ContextAnswer {
  /** Contract id of the factory, which is also disclosed. */
  readonly factoryId: string;
}

export interface TransferFactoryAnswer extends FactoryAnswer {
  readonly transferKind: TransferKind;
  /** The instrument that is transferred, as the request names it. For metrics only; "unknown" there if absent. */
  readonly instrumentId?: string | undefined;
}

export type TransferKind = "self" | "direct" | "offer";

export type ProofStatus = "Success" | "Failure" | "Pending";

export interface Inventory {
  readonly registrars: readonly {
    readonly party: string;
    /** The default identifier of each instrument that has a configuration. */
    readonly instruments: readonly InstrumentIdentifier[];
  }[];
  /** How many contracts of each template are stored. */
  readonly counts: readonly { readonly qualifiedName: string; readonly count: number }[];
  /**
   * The parties that contracts name as operator of the registry's software, who alone sees some of them; absent if the
   * registry has no such party.
   */
  readonly operators?: readonly string[] | undefined;
  /** Problems that will make requests fail: warnings, or a sentence each. At most 1,000 of a kind. */
  readonly warnings: readonly (Warning | string)[];
  /** How many warnings of each kind there are; absent if all are listed. */
  readonly warningCounts?: Readonly<Record<WarningKind, number>> | undefined;
  /** How many contracts were not checked, because there are more than InventoryOptions allow; absent if none. */
  readonly unchecked?: number | undefined;
}
