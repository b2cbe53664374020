import { type CauseCode, definitionOf, helpFor, httpStatus, INFORMATION } from "../../domain/causes.js";
import type { Contract } from "../../domain/contract.js";
import type { Cause, RegistryErrorReason } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { RequestContext } from "./registry.js";

/** Something on the ledger or in the configuration that makes operations fail, wherever it has the same cause. */
export interface Warning {
  /** The code of the cause: of causes.ts, or of a registry module. */
  readonly kind: CauseCode | (string & {});
  /** Empty if it concerns all. */
  readonly registrar: string;
  /** What the cause is about, else what the first operation that fails is about; absent if that is all instruments. */
  readonly instrument?: string | undefined;
  /** As `instrument`: a pending instruction, a credential, a contract in reassignment. */
  readonly contractId?: string | undefined;
  /** The party that lacks credentials. */
  readonly party?: string | undefined;
  /** The operations that fail, by their names in `offledger contexts`, or `metadata` or `instrument-configuration`. */
  readonly operations: readonly string[];
  /** Why requests are refused. Absent if they are answered, but the choice fails on the ledger. */
  readonly refusal?: RegistryErrorReason | undefined;
  /** What is wrong, in the words of the error of a refused request. Ends without a full stop. */
  readonly problem: string;
  /** What to do. Ends without a full stop. */
  readonly help: string;
  /** For how many instruments and pending instructions operations fail; 1 if it is absent. */
  readonly count?: number | undefined;
}

/** A warning of a cause of the table. The cause says what it is about, unless `more` does. */
export function warningOf(
  cause: Cause,
  { operations, ...more }: Pick<Warning, "operations"> & Partial<Warning>,
): Warning {
  const { code: kind, registrar = "", instrument, contractId, party, message: problem } = cause;
  const about = { registrar, instrument, contractId, party };
  return { kind, ...about, problem, help: helpFor(cause), operations, ...more };
}

/** Whether the warning is for information only: `offledger check` succeeds with it. */
export const isInformation = ({ kind }: Warning): boolean => kind === INFORMATION;

/** A warning for people: what is wrong, which operations fail and how, for what, and what helps. */
export function describeWarning(warning: Warning): string {
  const { kind, problem, operations, refusal, help, count = 1, instrument, contractId } = warning;
  const failure =
    refusal === undefined ? definitionOf(kind)?.answered || "Fails on the ledger" : `Answered ${httpStatus(refusal)}`;
  const subject = contractId ?? instrument;
  const named =
    subject === undefined || problem.includes(subject) ? "" : ` ${count === 1 ? "of" : "such as"} ${subject}`;
  const counted = count === 1 ? named : `, for ${count} instruments and instructions${named}`;
  const failing = operations.length === 0 ? "" : ` ${failure}: ${operations.join(", ")}${counted}.`;
  return `${problem}.${failing}${help === "" ? "" : ` ${help}.`}`;
}

/** Finds what will fail for the contracts of one template, a few of them at a time. */
export interface Check<F = unknown, O = unknown> {
  /** The template whose contracts are checked. */
  readonly template: Template<F>;
  /**
   * The warnings about some contracts of the template, which are those of `context.view`. A check is called with each
   * contract once. Those with the same cause are reported as one. Like the methods of a registry it is synchronous and has
   * no side effects.
   */
  warnings(context: CheckContext, contracts: readonly Contract<F>[]): readonly Warning[];
  /** What only all contracts of the template show together. Absent if nothing. */
  readonly overall?: OverallCheck<F, O>;
}

/** A check of all contracts of a template, a few of them at a time. Its methods are as `Check.warnings`. */
export interface OverallCheck<F, O> {
  /** What some of the contracts show. Keep it small: it is held for every step. */
  observe(context: CheckContext, contracts: readonly Contract<F>[]): O;
  /** The warnings, once every contract has been observed. Not called if some were not. */
  conclude(context: CheckContext, observed: readonly O[]): readonly Warning[];
}

export interface CheckContext extends RequestContext {
  /** Days before expiry in which a credential causes a warning; 0 disables the warning. */
  readonly credentialDays: number;
}

export interface InventoryOptions {
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  /** Credentials that end within so many days are warned of; 0 if none are. */
  readonly credentialDays: number;
}
