import type { Contract } from "../../domain/contract.js";
import { causesOf, type RegistryError } from "../../domain/errors.js";
import type { ExplainedAttempt } from "./explanation.js";

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
