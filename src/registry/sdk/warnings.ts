import type { Contract } from "../../domain/contract.js";
import type { RegistryErrorReason } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { RequestContext } from "./registry.js";

/** What can be wrong, in the order of reports. docs/check.md explains each. */
export const warningKinds = [
  /** No contract is of a registrar: every request is refused. */
  "no-registrar",
  /** A registrar, or a group of one, has instruments or pending instructions, but no factory. */
  "no-factory",
  /** An instrument of a pending instruction, or every instrument of a factory's registrar, has no configuration. */
  "no-configuration",
  /** A registrar, or a group of one, has no transfer rule. */
  "no-rule",
  /** Several groups of operator and provider have an instrument of a registrar. */
  "several-groups",
  /** An additional identifier of an instrument finds another instrument. */
  "ambiguous-identifier",
  /** Every usable configuration of an instrument is between synchronizers. */
  "configuration-in-reassignment",
  /** Another contract that a choice needs is between synchronizers. */
  "contract-in-reassignment",
  /** A pending instruction is between synchronizers. */
  "instruction-in-reassignment",
  /** The contracts that a choice needs share no synchronizer. */
  "no-common-synchronizer",
  /** An instrument checks a blocklist, and no contexts file says how to disclose one. */
  "blocklist-not-configured",
  /** A contract that the operator's contexts file or a module requires does not exist. */
  "contract-missing",
  /** The holding that a pending instruction has locked does not exist. */
  "holding-missing",
  /** The deadline of a pending instruction has passed. */
  "instruction-expired",
  /** A party of a pending instruction lacks required credentials. */
  "credentials-missing",
  /** No credential meets a requirement of an instrument, for any party. */
  "requirement-unmet",
  /** The claims that a requirement asks for are spread over several credentials of a party. */
  "credentials-split",
  /** A credential ends soon, and no other one replaces it. */
  "credential-expires",
  /** The factories of a group are known to be older than version 2 of the token standard. An information. */
  "no-version-2",
] as const;

export type WarningKind = (typeof warningKinds)[number];

/** Whether warnings of the kind are for information only: `offledger check` succeeds with them. */
export const isInformation = (kind: WarningKind): boolean => kind === "no-version-2";

/** Something on the ledger or in the configuration that makes operations fail. */
export interface Warning {
  readonly kind: WarningKind;
  /** Empty for "no-registrar". */
  readonly registrar: string;
  /** Absent if it concerns all instruments of the registrar. */
  readonly instrument?: string | undefined;
  /** The contract that it is about: an instruction, a credential, a contract in reassignment. Absent if there is none. */
  readonly contractId?: string | undefined;
  /** The party that lacks credentials; absent for other kinds, and if there are several. */
  readonly party?: string | undefined;
  /** The operations that fail, by their names in `offledger contexts`, or `metadata` or `instrument-configuration`. */
  readonly operations: readonly string[];
  /** Why requests are refused. Absent if they are answered, but the choice fails on the ledger. */
  readonly refusal?: RegistryErrorReason | undefined;
  /** What is wrong, in the words of the error of a refused request. Ends without a full stop. */
  readonly problem: string;
  /** What to do. Ends without a full stop. */
  readonly remedy: string;
}

/** The HTTP status of each refusal. */
export const refusalStatus: Readonly<Record<RegistryErrorReason, number>> = {
  invalid: 400,
  "not-found": 404,
  conflict: 409,
  unavailable: 503,
  unsupported: 501,
};

/** A warning for people: what is wrong, which operations fail and how, and what to do. */
export function describeWarning({ kind, problem, operations, refusal, remedy }: Warning): string {
  const failure =
    refusal === undefined ? (answeredBut[kind] ?? "Fails on the ledger") : `Answered ${refusalStatus[refusal]}`;
  return `${problem}. ${failure}: ${operations.join(", ")}. ${remedy}.`;
}

/** What is wrong with operations that are answered, if not that the choice fails on the ledger. */
const answeredBut: Partial<Record<WarningKind, string>> = {
  "several-groups": "May fail on the ledger",
  "ambiguous-identifier": "Answered with the other instrument",
  "credential-expires": "Will fail on the ledger",
};

/** Finds what will fail for the contracts of one template, a few of them at a time. */
export interface Check<F = unknown, O = unknown> {
  /** The template whose contracts are checked. */
  readonly template: Template<F>;
  /**
   * The warnings about some contracts of the template, which are those of `context.view`. A check is called with each
   * contract once. Warnings that differ only in their operations are reported as one. Like the methods of a registry it
   * is synchronous and has no side effects.
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
  /**
   * How many contracts of each template are checked one by one, newest first; undefined if all are. With 0 the service
   * runs `Registry.checks` itself, if the inventory says that contracts are unchecked.
   */
  readonly maxContracts?: number | undefined;
}
