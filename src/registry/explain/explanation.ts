import type { Cause } from "../../domain/cause.js";
import type { Contract } from "../../domain/contract.js";
import { causesOf, type RegistryError } from "../../domain/errors.js";
import type { Claim, Sought } from "../sdk/registry.js";

/** How an answer was found. */
export interface Explanation {
  /** In order; empty if none was made. */
  readonly attempts: readonly ExplainedAttempt[];
  /** In the order in which they were made. */
  readonly searches: readonly ExplainedSearch[];
  readonly requirements: readonly ExplainedRequirement[];
  /** Of the answer, in its order. */
  readonly disclosures: readonly ExplainedDisclosure[];
  /** What would have to change, all of it; undefined if the rules found no better way than the causes of the refusal. */
  readonly changes: readonly Cause[] | undefined;
  /** Why the changes are not about the causes, as a sentence. */
  readonly changesNote: string | undefined;
  /** What else to know about the request, as sentences. */
  readonly notes: readonly string[];
}

/** An attempt at an answer, with one factory or instruction. */
export interface ExplainedAttempt {
  /** What it was made with, such as `the AllocationFactory of registrar acme`. */
  readonly name: string;
  readonly contract: Contract;
  /** Why it was given up; empty if it gave the answer. */
  readonly causes: readonly Cause[];
  /** Whether the answer, or the error, is of this attempt. */
  readonly isAnswered: boolean;
}

export interface ExplainedSearch {
  /** What was looked for, such as `the TransferRule of registrar acme`. */
  readonly name: string;
  readonly sought: Sought;
  /** The attempt that it belongs to: 1 is the first; 0 if it was made before any. */
  readonly attempt: number;
  /** Undefined if several templates were searched. */
  readonly template: string | undefined;
  /** Of the answer that was tried; undefined where none was chosen yet. */
  readonly synchronizer: string | undefined;
  /** The keys of the context for which it is needed, or the disclosure. */
  readonly entries: readonly string[];
  readonly required: boolean;
  /** Newest first. */
  readonly candidates: readonly ExplainedCandidate[];
  /** How many candidates there are beyond those listed. */
  readonly omitted: number;
  /** What to do if nothing was chosen, as a sentence, where more is known than the cause says. */
  readonly remedy: string | undefined;
}

export interface ExplainedCandidate {
  readonly contract: Contract;
  readonly isChosen: boolean;
  /** Why it was passed over, as a predicate; undefined if it was chosen. */
  readonly reason: string | undefined;
}

/** Claims that a party needs from one issuer. */
export interface ExplainedRequirement {
  readonly party: string;
  readonly issuer: string;
  readonly instruments: readonly string[];
  /** As in a search. */
  readonly attempt: number;
  readonly synchronizer: string | undefined;
  readonly required: boolean;
  readonly claims: readonly ExplainedClaim[];
}

/** Property and value are empty for a requirement without claims, which any credential of the issuer meets. */
export interface ExplainedClaim extends Claim {
  /** The chosen credential that meets the whole requirement; undefined if none does. */
  readonly credential: Contract | undefined;
  /** When that credential ends, in microseconds since 1970; undefined if it does not. */
  readonly validUntil: number | undefined;
  /** Other credentials that make it. */
  readonly passedOver: readonly ExplainedCandidate[];
  /** How many there are beyond those listed. */
  readonly omitted: number;
}

export interface ExplainedDisclosure {
  readonly contract: Contract;
  readonly entries: readonly string[];
}

interface Attempt {
  readonly name: string;
  readonly contract: Contract;
  error: RegistryError | undefined;
}

/** The attempts at one answer, each with a factory or instruction. */
export class Attempts {
  readonly #all: Attempt[] = [];
  /** The error of the request. */
  #refusal: RegistryError | undefined;

  /** The number of the latest one; 0 before the first. */
  get latest(): number {
    return this.#all.length;
  }

  begin(name: string, contract: Contract): void {
    this.#all.push({ name, contract, error: undefined });
  }

  giveUp(error: RegistryError): void {
    const last = this.#all.at(-1);
    if (last !== undefined) last.error ??= error;
  }

  refuse(error: RegistryError): void {
    this.#refusal = error;
    this.giveUp(error);
  }

  /** The number of the attempt of which the answer or the error is; 0 if there is none. */
  get answered(): number {
    const refused = this.#all.findIndex(({ error }) => error !== undefined && error === this.#refusal);
    return refused >= 0 ? refused + 1 : this.#all.length;
  }

  /** The contract of the attempt of which the answer or the error is. */
  get answeredContract(): Contract | undefined {
    return this.#all[this.answered - 1]?.contract;
  }

  /** Why a contract is passed over with which an attempt before the latest was made. */
  whyGivenUp(contract: Contract): string | undefined {
    return describe(this.#all.slice(0, -1).find((attempt) => attempt.contract === contract));
  }

  /** Why the contract of an attempt is passed over: the answer is of a later one. */
  whyNotAnswered(number: number, contract: Contract): string | undefined {
    const attempt = this.#all[number - 1];
    return attempt?.contract === contract && number < this.answered ? describe(attempt) : undefined;
  }

  explained(): readonly ExplainedAttempt[] {
    return this.#all.map(({ name, contract, error }, index) => ({
      name,
      contract,
      causes: error === undefined ? [] : causesOf(error),
      isAnswered: index + 1 === this.answered,
    }));
  }
}

function describe(attempt: Attempt | undefined): string | undefined {
  if (attempt?.error === undefined) return undefined;
  const [first, ...others] = causesOf(attempt.error);
  const more = others.length === 0 ? "" : `; and ${others.length} more`;
  return `was tried first, but ${first?.message ?? attempt.error.message}${more}`;
}
