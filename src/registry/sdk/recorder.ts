import type { Contract } from "../../domain/contract.js";
import type { Claim, Requirement } from "./registry.js";

/** A contract that was looked for. */
export interface Sought {
  /** Such as `the TransferRule of registrar acme`. */
  readonly name: string;
  /** As `Module:Entity`; that of the candidates by default. */
  readonly template?: string | undefined;
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
  readonly claims: readonly Claim[];
  readonly validUntil: number | undefined;
  /** Undefined if it counts. */
  readonly invalid: string | undefined;
}

/**
 * Records how an answer is found, for an explanation: the rules run as for any request, and report what they do.
 */
export interface Recorder {
  /** A contract was looked for. Of searches with one name only the first is kept, for the entries of all. */
  search(search: Search): void;
  credentials(search: CredentialSearch): void;
  /**
   * What follows is about the answer with this factory or instruction, on its synchronizer. Of several, the last named
   * counts, with all that was recorded about it: if none gives an answer, name again the one whose error is thrown.
   */
  answerWith(contract: Contract): void;
  /** What follows is for these keys of the context, or this disclosure. */
  entry(names: readonly string[]): void;
  /** The answer discloses a contract. */
  disclosed(contract: Contract): void;
  /** What to know about a contract, as a sentence. It is shown if the answer uses the contract. */
  note(contract: Contract, sentence: string): void;
  /** What to know about the request, as a sentence. */
  remark(sentence: string): void;
}
