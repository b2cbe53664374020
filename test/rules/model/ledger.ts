/** A ledger as a plain list of active contracts, what the specification reads from their payloads, and their versions. */
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import type { Template } from "../../fixtures/elements.js";
import type { Settings } from "./requests.js";

export interface LedgerContract {
  readonly contractId: string;
  readonly template: Template;
  readonly packageId: string;
  /** Whether it is from a package of another name, whose template only has the same qualified name. */
  readonly isLookalike: boolean;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly payload: JsonObject;
  /** Undefined while the contract is in reassignment. */
  readonly synchronizerId: string | undefined;
  readonly reassignmentCounter: number;
}

export type Ledger = readonly LedgerContract[];

/** A value in nested objects by a path such as `transfer.sender`. Undefined if it is absent or null. */
export function read(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const name of path.split(".")) current = isObject(current) ? (current[name] ?? undefined) : undefined;
  return current;
}

export function readText(value: JsonValue | undefined, path: string): string | undefined {
  const found = read(value, path);
  return typeof found === "string" ? found : undefined;
}

/** The elements of a list; empty if it is absent. */
export function readList(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  const found = read(value, path);
  return Array.isArray(found) ? found : [];
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Microseconds since 1970. */
export function microseconds(time: string): number {
  const [seconds = "", fraction = ""] = time.replace("Z", "").split(".");
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

/** All contracts of a template: "the newest by creation wins, ties by contract id". */
export function contractsOf(ledger: Ledger, template: Template): LedgerContract[] {
  return ledger
    .filter((contract) => contract.template === template && !contract.isLookalike)
    .toSorted(
      (a, b) =>
        microseconds(b.createdAt) - microseconds(a.createdAt) ||
        (a.contractId < b.contractId ? -1 : a.contractId > b.contractId ? 1 : 0),
    );
}

/** The contracts of a template whose payload names this registrar. */
export function registrarsContracts(ledger: Ledger, template: Template, registrar: string): LedgerContract[] {
  return contractsOf(ledger, template).filter(({ payload }) => readText(payload, "registrar") === registrar);
}

export interface Identifier {
  readonly source: string;
  readonly id: string;
  readonly scheme: string;
}

/** The default identifier of an InstrumentConfiguration, then the additional ones. */
export function identifiersOf({ payload }: LedgerContract): readonly Identifier[] {
  return [read(payload, "defaultIdentifier"), ...readList(payload, "additionalIdentifiers")].map((identifier) => ({
    source: readText(identifier, "source") ?? "",
    id: readText(identifier, "id") ?? "",
    scheme: readText(identifier, "scheme") ?? "",
  }));
}

/** The configurations whose default identifier has the id of the instrument: choices compare no other. */
export function configurationsOf(ledger: Ledger, registrar: string, instrument: string): LedgerContract[] {
  return registrarsContracts(ledger, "InstrumentConfiguration", registrar).filter(
    (configuration) => identifiersOf(configuration)[0]?.id === instrument,
  );
}

/** The operator and the provider that all contracts of an answer name. */
export interface Group {
  readonly operator: string;
  readonly provider: string;
}

export const groupOf = ({ payload }: LedgerContract): Group => ({
  operator: readText(payload, "operator") ?? "",
  provider: readText(payload, "provider") ?? "",
});

export const isSameGroup = (a: Group, b: Group): boolean => a.operator === b.operator && a.provider === b.provider;

export const ofGroup = (contracts: readonly LedgerContract[], group: Group): LedgerContract[] =>
  contracts.filter((contract) => isSameGroup(groupOf(contract), group));

/** `Paused` is a constructor without fields: the string, any object and `true` are read as paused. */
export function isPaused({ payload }: LedgerContract): boolean {
  const value = read(payload, "isPaused");
  return value === "Paused" || value === true || isObject(value);
}

/** Whether a contract is of a package version before this one. A package that is not listed counts as current. */
export function isOlder({ packageVersions }: Settings, { packageId }: LedgerContract, before: string): boolean {
  const version = packageVersions.get(packageId);
  if (version === undefined) return false;
  const [numbers, others] = [version.split(".").map(Number), before.split(".").map(Number)];
  const index = numbers.findIndex((number, at) => number !== others[at]);
  return index !== -1 && (numbers[index] ?? 0) < (others[index] ?? 0);
}
