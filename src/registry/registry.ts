import type { Contract, JsonObject, Kind, View } from "../store/store.js";

export type { Contract } from "../store/store.js";

/**
 * What a registry implements: the rules of one family of tokens. It reads a
 * View and answers; it knows nothing of HTTP, protobuf or SQL. Every method
 * throws RegistryError (errors.ts) where there is no answer.
 */
export interface Registry {
  /** The name by which logs and the start-up text call it. */
  readonly name: string;
  /** Every kind of contract that its rules ask for; no other is kept. */
  readonly kinds: readonly Kind[];
  /** The factory of a transfer, and how the transfer will go. */
  transferFactory(scene: Scene, question: FactoryQuestion): Promise<TransferFactoryAnswer>;
  /** The factory of a settlement of many allocations. */
  settlementFactory(scene: Scene, question: FactoryQuestion): Promise<FactoryAnswer>;
  /** The context of a choice on one contract, by the name of the choice. */
  choiceContext(scene: Scene, choice: Choice, question: ChoiceQuestion): Promise<ContextAnswer>;
  /** The configuration of one instrument. The contract is active on a synchronizer. */
  instrumentConfiguration(scene: Scene, question: InstrumentQuestion): Promise<Contract<InstrumentConfiguration>>;
  /** What the contracts held amount to: for the operator, at start and in `offledger check`. */
  inventory(view: View): Promise<Inventory>;
}

/** The choices on a contract that has its own id, as `noun/verb`. */
export type Choice =
  | "transfer-instruction/reject"
  | "allocation/withdraw"
  | "allocation/cancel"
  | "burn-request/accept"
  | "burn-offer/cancel";

/** The moment in which a question is asked. */
export interface Scene {
  /** The contracts, all of one offset. */
  readonly view: View;
  /** Milliseconds since 1970: what "valid now" is measured against. */
  readonly now: number;
}

export interface FactoryQuestion {
  /** The registrar whose registry is asked. */
  readonly registrar: string;
  /** The arguments of the choice, as the JSON Ledger API encodes them. */
  readonly choiceArguments: JsonObject;
}

export interface ChoiceQuestion {
  /** The registrar whose registry is asked; undefined where the path names none. */
  readonly registrar: string | undefined;
  /** The contract on which the choice is exercised. */
  readonly contractId: string;
}

export interface InstrumentQuestion {
  readonly registrar: string;
  readonly identifier: InstrumentIdentifier;
}

/** A value of a choice context, as the token standard's metadata package encodes it. */
export type AnyValue =
  | {
      readonly tag: "AV_Text" | "AV_Int" | "AV_Decimal" | "AV_Date" | "AV_Time" | "AV_RelTime" | "AV_Party";
      readonly value: string;
    }
  | { readonly tag: "AV_ContractId"; readonly value: string }
  | { readonly tag: "AV_Bool"; readonly value: boolean }
  | { readonly tag: "AV_List"; readonly value: readonly AnyValue[] }
  | { readonly tag: "AV_Map"; readonly value: Readonly<Record<string, AnyValue>> };

/** What to pass to a choice, and what to disclose for it. */
export interface ContextAnswer {
  readonly values: Readonly<Record<string, AnyValue>>;
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

/** One name of an instrument. */
export interface InstrumentIdentifier {
  readonly source: string;
  readonly id: string;
  readonly scheme: string;
}

/** What an instrument's configuration says. */
export interface InstrumentConfiguration {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly defaultIdentifier: InstrumentIdentifier;
  readonly additionalIdentifiers: readonly InstrumentIdentifier[];
  /** What a party needs to mint or burn. */
  readonly issuerRequirements: readonly Requirement[];
  /** What a party needs to send or receive. */
  readonly holderRequirements: readonly Requirement[];
}

/** Claims that a party has to have from one issuer of credentials. */
export interface Requirement {
  readonly issuer: string;
  readonly requiredClaims: readonly Claim[];
}

export interface Claim {
  readonly property: string;
  readonly value: string;
}

/** What a set of contracts amounts to, in words for an operator. */
export interface Inventory {
  readonly registrars: readonly {
    readonly party: string;
    /** The default identifier of each instrument that has a configuration. */
    readonly instruments: readonly InstrumentIdentifier[];
  }[];
  /** How many contracts of each entity are held. */
  readonly counts: readonly { readonly entity: string; readonly count: number }[];
  /** What will make requests fail, a sentence each. */
  readonly warnings: readonly string[];
}
