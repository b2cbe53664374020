import type { Contract } from "../../domain/contract.js";
import type { RegistryErrorReason } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { RequestContext } from "./registry.js";

/** What can be wrong, in the order of reports. docs/check.md explains each. */
export const warningKinds = [
  /** A registrar has instruments or pending instructions, but no factory. */
  "no-factory",
  /** An instrument of a pending instruction, or every instrument of a factory's registrar, has no configuration. */
  "no-configuration",
  /** A registrar has no transfer rule. */
  "no-rule",
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
  /** A party of a pending instruction lacks required credentials. */
  "credentials-missing",
  /** A credential ends soon, and no other one replaces it. */
  "credential-expires",
] as const;

export type WarningKind = (typeof warningKinds)[number];

/** Something on the ledger or in the configuration that makes operations fail. */
export interface Warning {
  readonly kind: WarningKind;
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
  const onLedger = kind === "credential-expires" ? "Will fail on the ledger" : "Fails on the ledger";
  const failure = refusal === undefined ? onLedger : `Answered ${refusalStatus[refusal]}`;
  return `${problem}. ${failure}: ${operations.join(", ")}. ${remedy}.`;
}

/** Finds what will fail for the contracts of one template, a few of them at a time. */
export interface Check<F = unknown> {
  /** The template whose contracts are checked. */
  readonly template: Template<F>;
  /**
   * The warnings about some contracts of the template, which are those of `context.view`. A check is called with each
   * contract once. Warnings that differ only in their operations are reported as one. Like the methods of a registry it
   * is synchronous, has no side effects, and may be run again.
   */
  warnings(context: CheckContext, contracts: readonly Contract<F>[]): readonly Warning[];
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
