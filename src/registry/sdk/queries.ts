/** What a registry is asked, free of how it was sent. */
import type { JsonObject } from "../../domain/json.js";
import type { InstrumentIdentifier } from "./instruments.js";

/** The choices of the token standard on a contract that has its own id, as `noun/verb`. */
export type Choice =
  | "transfer-instruction/accept"
  | "transfer-instruction/reject"
  | "transfer-instruction/withdraw"
  | "allocation-instruction/accept"
  | "allocation-instruction/withdraw"
  | "allocation/execute-transfer"
  | "allocation/withdraw"
  | "allocation/cancel";

/** The choices on what is made to mint or burn. */
export type IssuanceChoice = `${"mint" | "burn"}-${"offer" | "request"}/${"accept" | "reject" | "cancel"}`;

export interface FactoryQuery {
  /** The registrar whose registry is asked. */
  readonly registrar: string;
  /** The arguments of the choice, as the JSON Ledger API encodes them. */
  readonly choiceArguments: JsonObject;
}

export interface ChoiceQuery {
  /** The registrar whose registry is asked; undefined where the path names none. */
  readonly registrar: string | undefined;
  /** The contract on which the choice is exercised. */
  readonly contractId: string;
}

/** Asks for what makes an offer or a request to mint or burn, or does both at once. */
export interface IssuanceQuery {
  /** The admin of the instrument. */
  readonly registrar: string;
  readonly instrumentId: string;
  /** The parties whose holdings are minted or burned. */
  readonly holders: readonly string[];
}

export interface InstrumentQuery {
  readonly registrar: string;
  readonly identifier: InstrumentIdentifier;
}

/** Asks what became of a transfer. */
export interface ProofQuery {
  /** The update of the ledger that is said to hold the transfer or its latest step. */
  readonly updateId: string;
  readonly transfer: TransferTerms;
}

/** A transfer as its parties agreed on it. */
export interface TransferTerms {
  readonly sender: string;
  readonly receiver: string;
  /** A decimal. */
  readonly amount: string;
  readonly instrumentId: { readonly admin: string; readonly id: string };
  /** RFC 3339 in UTC, as `executeBefore`. */
  readonly requestedAt: string;
  readonly executeBefore: string;
  /** Contract ids, in their order. */
  readonly inputHoldingCids: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}
