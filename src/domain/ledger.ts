/** What the service asks of the ledger besides its contracts. `ledger` and `ingest` implement it. */
import type { StoredContract } from "./contract.js";
import type { JsonObject, JsonValue } from "../util/json.js";
import type { Template } from "./template.js";

/** How well the store keeps up with the ledger. */
export interface Freshness {
  /** Why requests must not be answered from the store; undefined if they may be. */
  staleReason(): string | undefined;
  /**
   * Brings the store to an end of the ledger that is read from now on. Yields "advanced" each time the store has moved on,
   * and "reached" as the last, when the store has all up to that end. Ends without "reached" if it gives up, within a
   * bounded time. Never throws. Absent where nothing is ahead of the store.
   */
  readonly catchUp?: (() => AsyncIterable<CatchUpProgress>) | undefined;
}

/** As which parties a participant is read: at least one, or every party that it has. */
export type ReadAs = readonly string[] | "any";

/** For messages. */
export const namesOf = (parties: ReadAs): string => (parties === "any" ? "any party" : parties.join(", "));

export type CatchUpProgress = "advanced" | "reached";

/** What the rules need of a holding. */
export interface HoldingFields {
  readonly owner: string;
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly instrumentId: string;
}

/** Which of the contracts that a ledger shows are kept. */
export interface KeptContracts {
  /** Whether contracts that are not stored still contribute to the supply. */
  readonly countsSupply?: boolean;
  /** Whether contracts that only some services need are stored. */
  readonly keepsOptional?: boolean;
  /** Whether contracts that are otherwise read by id are stored: a file has no ledger to ask. */
  readonly keepsReadById?: boolean;
  /** Registrars that we do not read as, whose contracts are kept too where their signature counts. */
  readonly registrars?: readonly string[];
}

/** The templates whose contracts are mirrored. Others are read by id, where an answer names them. */
export const mirroredOf = (
  templates: readonly Template[],
  { countsSupply = false, keepsOptional = false }: KeptContracts,
): readonly Template[] =>
  templates.filter((template) => {
    const { isReadById = false, isCounted = false } = template;
    return !isReadById || keepsOptional || isCounted || (countsSupply && template.supplyContribution !== undefined);
  });

/**
 * What the ledger says of a contract. "archived" if it is known to be, "unread" if it has said nothing within the wait of
 * read-your-writes.
 */
export type OnLedger<F = unknown> = StoredContract<F> | "archived" | "unread";

/** The most contracts that a request reads by id. */
export const MAX_READ_BY_ID = 500;

/** Reads contracts from the ledger by id: most of their templates are not stored, there can be millions. */
export interface ContractSource {
  /**
   * Reads the contracts. The map lacks those of which the ledger says that it does not know them, and those that do not count:
   * they are of other templates, or lack the signature of their registrar. Those after MAX_READ_BY_ID are "unread". Never
   * rejects.
   */
  contracts(contractIds: readonly string[]): Promise<ReadonlyMap<string, OnLedger>>;
}

/** The package of a template: its id changes with every version, its name does not. */
export interface PackageVersion {
  readonly name: string;
  /** For example `0.6.0`. */
  readonly version: string;
}

/** Knows packages by id. */
export interface PackageCatalog {
  /**
   * The packages with the ids, by default all; without those that are not known. Undefined if the source does not tell
   * any: then others have to be used. Throws an Error if it cannot be asked now.
   */
  versions(ids?: Iterable<string>): Promise<ReadonlyMap<string, PackageVersion> | undefined>;
}

/** Past updates, asked from the participant. Methods throw RegistryError "unavailable" if it cannot be asked. */
export interface History {
  /** One update with its events on contracts of the templates; undefined if our parties may see no such update. */
  update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined>;
  /** The creation of a contract, active or archived. Undefined if the ledger does not know it, or has pruned it. */
  creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined>;
  /**
   * Repeats a query until it returns a value, for as long as an update may still be in transit. Without a value the whole
   * wait passes, whatever was looked up.
   */
  pollUntil<T>(query: () => Promise<T | undefined>): Promise<T | undefined>;
}

export interface Update {
  /** In the order in which they happened. */
  readonly events: readonly (Created | Exercised)[];
}

export interface Created {
  readonly does: "create";
  readonly template: Template;
  readonly contractId: string;
  readonly payload: JsonObject;
  /** Offset of the update that created the contract. */
  readonly offset: number;
}

export interface Exercised {
  readonly does: "exercise";
  readonly template: Template;
  readonly contractId: string;
  /** For example `TransferInstruction_Accept`. */
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  /** Whether the choice archived the contract. */
  readonly consuming: boolean;
}

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
