import type { JsonObject } from "./json.js";

/** A command that exercises one choice, as a wallet would submit it. */
export interface ExerciseCommand {
  readonly actAs: readonly string[];
  /** Of the template or interface: `#package-name:Module:Entity`, or with a package id. */
  readonly templateId: string;
  readonly contractId: string;
  readonly choice: string;
  /** As the JSON Ledger API encodes it. */
  readonly choiceArgument: JsonObject;
  readonly disclosedContracts: readonly SubmittedDisclosure[];
}

/** A contract that is submitted with a command because the parties may not see it. */
export interface SubmittedDisclosure {
  readonly templateId: string;
  readonly contractId: string;
  /** Base64. */
  readonly createdEventBlob: string;
  readonly synchronizerId: string;
}

/** What a participant says about a command. */
export interface Verdict {
  readonly succeeds: boolean;
  /** The participant's message; empty if the command succeeds. */
  readonly error: string;
  /** The participant's error code; empty if the command succeeds. */
  readonly errorCode: string;
  /** Where the transaction would run; empty if the participant does not say. */
  readonly synchronizer: string;
  /** Estimated traffic in bytes; undefined if the participant does not estimate it. */
  readonly trafficCost: number | undefined;
}

/**
 * Has a participant prepare a command; nothing is submitted. A rejection of the command is a Verdict. Throws
 * RegistryError "unavailable" if there is no verdict, and "unsupported" if the participant cannot prepare.
 */
export interface Preparer {
  prepare(command: ExerciseCommand): Promise<Verdict>;
}
