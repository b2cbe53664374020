/** What a registry answers, free of how it is sent. */
import type { Contract } from "../../domain/contract.js";
import type { InstrumentIdentifier } from "./instruments.js";

/** A value of a choice context, as the token standard's metadata package encodes it. */
export type AnyValue =
  | {
      readonly tag: "AV_Text" | "AV_Int" | "AV_Decimal" | "AV_Date" | "AV_Time" | "AV_RelTime" | "AV_Party";
      readonly value: string;
    }
  /** The id of a contract; `contract` where it is one that the answer discloses. */
  | { readonly tag: "AV_ContractId"; readonly value: string; readonly contract?: Contract }
  | { readonly tag: "AV_Bool"; readonly value: boolean }
  | { readonly tag: "AV_List"; readonly value: readonly AnyValue[] }
  | { readonly tag: "AV_Map"; readonly value: readonly NamedValue[] };

/** A value with its name, which is once in its list. */
export interface NamedValue {
  readonly name: string;
  readonly value: AnyValue;
}

/** What to pass to a choice, and what to disclose for it. */
export interface ContextAnswer {
  readonly values: readonly NamedValue[];
  /** Each once, all on one synchronizer, none in reassignment. */
  readonly disclosed: readonly Contract[];
}

export interface FactoryAnswer extends ContextAnswer {
  /** Contract id of the factory; it is among the disclosed contracts. */
  readonly factoryId: string;
}

export interface TransferFactoryAnswer extends FactoryAnswer {
  readonly transferKind: TransferKind;
}

export type TransferKind = "self" | "direct" | "offer";

/** What became of a transfer, as the proof of it says. */
export type ProofStatus = "Success" | "Failure" | "Pending";

/** What a set of contracts amounts to, in words for an operator. */
export interface Inventory {
  readonly registrars: readonly {
    readonly party: string;
    /** The default identifier of each instrument that has a configuration. */
    readonly instruments: readonly InstrumentIdentifier[];
  }[];
  /** How many contracts of each entity are held. */
  readonly counts: readonly { readonly qualifiedName: string; readonly count: number }[];
  /** What will make requests fail, a sentence each. */
  readonly warnings: readonly string[];
}
