import type { Contract } from "../../domain/contract.js";
import type { CauseFields } from "../../domain/cause.js";
import type { RegistryError } from "../../domain/errors.js";
import type { Requirement } from "./instruments.js";

/** A contract that was looked for. */
export interface Sought extends CauseFields {
  /** Such as `the TransferRule of registrar acme`. */
  readonly name: string;
}

/** All contracts that were looked at, also those that the rules do not count as candidates. */
export interface Considered {
  /** All that were found, newest first. */
  readonly candidates: readonly Contract[];
  /** Why some candidates were passed over, as predicates, where the rules have a reason of their own. */
  readonly reasons?: ReadonlyMap<Contract, string> | undefined;
}

export interface Search extends Considered {
  readonly needed: Sought;
  /** Undefined if none was chosen. */
  readonly chosen: Contract | undefined;
  readonly required: boolean;
  /** What to do if none was chosen, as a sentence, where more is known than the cause says. */
  readonly remedy?: string | undefined;
}

/** The credentials of a party for the requirements of instruments. */
export interface CredentialSearch {
  readonly party: string;
  readonly requirements: readonly SoughtRequirement[];
  readonly required: boolean;
  /** The claims of a candidate on the party, how long it is valid (microseconds since 1970), and why it does not count. */
  readonly describe: (candidate: Contract) => DescribedCredential;
}

export interface SoughtRequirement extends Requirement {
  /** The instruments that have it. */
  readonly instruments: readonly string[];
  /** The chosen credential that meets it; undefined if none does. */
  readonly metBy: Contract | undefined;
  /** The credentials of the issuer that were looked at. */
  readonly candidates: readonly Contract[];
}

export interface DescribedCredential {
  readonly claims: readonly { readonly property: string; readonly value: string }[];
  readonly validUntil: number | undefined;
  /** Undefined if it counts. */
  readonly invalid: string | undefined;
}

/** What would have to change on one synchronizer. Throws the RegistryError that names all of it. */
export type ChangeAttempt = (synchronizer: string) => void;

/**
 * Records how an answer is found, for an explanation. The rules run once, as for any request, and report what they do. They
 * may run again from the start: each run has a recorder of its own.
 */
export interface Recorder {
  /** A contract was looked for. Of equal searches in one attempt only the first is kept. */
  search(search: Search): void;
  credentials(search: CredentialSearch): void;
  /** What follows is about the answer with this factory or instruction, on its synchronizer. `reasons` as in `search`. */
  attempt(
    needed: Sought,
    candidates: readonly Contract[],
    chosen: Contract,
    reasons?: ReadonlyMap<Contract, string>,
  ): void;
  /** The latest attempt fails. Another may follow. */
  gaveUp(error: RegistryError): void;
  /** What follows is for these keys of the context, or this disclosure. */
  entry(names: readonly string[]): void;
  /** The answer discloses a contract. */
  disclosed(contract: Contract): void;
  /**
   * The request is refused with an error: finds the synchronizer on which least has to change, among those of the
   * contracts found and `others`.
   */
  refused(error: RegistryError, others: readonly Contract[], attempt: ChangeAttempt): void;
  /** What to know about a contract, as a sentence. It is shown if the answer uses the contract. */
  note(contract: Contract, sentence: string): void;
  /** What to know about the request, as a sentence. */
  remark(sentence: string): void;
}
