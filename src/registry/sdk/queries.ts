import type { JsonObject } from "../../domain/json.js";
import type { InstrumentIdentifier } from "./instruments.js";

/** The choices of the token standard on contracts, as `contract/choice`. */
export type Choice =
  | "transfer-instruction/accept"
  | "transfer-instruction/reject"
  | "transfer-instruction/withdraw"
  | "allocation-instruction/accept"
  | "allocation-instruction/withdraw"
  | "allocation/execute-transfer"
  | "allocation/withdraw"
  | "allocation/cancel";

/** The instructions to mint and burn. */
export type IssuanceInstruction = `${"mint" | "burn"}-${"offer" | "request"}`;

export type IssuanceChoice = `${IssuanceInstruction}/${"accept" | "reject" | "cancel"}`;

export interface FactoryQuery {
  readonly registrar: string;
  /** The arguments of the choice, as the JSON Ledger API encodes them. */
  readonly choiceArguments: JsonObject;
  /** The field of the request that had them, for messages; "choiceArguments" if it is absent. */
  readonly argumentsName?: string;
  /** The metadata for the choice, `extraArgs.meta` of its arguments, as it came; absent if there is none. */
  readonly meta?: JsonObject | undefined;
  /** The version of the token standard whose path, or service, was called; absent if that is not known. */
  readonly apiVersion?: ApiVersion | undefined;
  /** Of a settlement: the parties that settle it. Absent for other factories, and if the arguments have no list of texts. */
  readonly executors?: readonly string[] | undefined;
}

/** A version of the token standard. */
export type ApiVersion = "v1" | "v2";

export interface ChoiceQuery {
  /** Undefined if the request names no registrar. */
  readonly registrar: string | undefined;
  readonly contractId: string;
  /** The metadata that the caller will pass to the choice, as it came; absent if the request has none. */
  readonly meta?: JsonObject | undefined;
  /** The version of the token standard whose path, or service, was called; absent for operations beyond the standard. */
  readonly apiVersion?: ApiVersion | undefined;
}

/** Asks for a factory for minting or burning. */
export interface IssuanceQuery {
  /** The admin of the instrument. */
  readonly registrar: string;
  readonly instrumentId: string;
  /** The parties whose holdings are minted or burned, as far as the request names them. */
  readonly holders: readonly string[];
  /** Contract ids of the holdings that are burned; empty, or absent, if the request names none. */
  readonly inputHoldings?: readonly string[];
}

export interface InstrumentQuery {
  readonly registrar: string;
  readonly identifier: InstrumentIdentifier;
}

export interface ProofQuery {
  /** The update that contains the transfer or its latest step, according to the caller. */
  readonly updateId: string;
  readonly transfer: TransferTerms;
}

export interface TransferTerms {
  readonly sender: string;
  readonly receiver: string;
  readonly amount: string;
  readonly instrumentId: { readonly admin: string; readonly id: string };
  /** RFC 3339, UTC; `executeBefore` too. */
  readonly requestedAt: string;
  readonly executeBefore: string;
  readonly inputHoldingCids: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}
