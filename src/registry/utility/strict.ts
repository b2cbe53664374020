/** The operations as the service answers them, and as the ledger needs them. */
import type { ContextDefinition } from "../engine/choice-context.js";
import type { Missing } from "../engine/grammar.js";
import type { PackageVersions } from "../engine/versions.js";
import { isExit } from "../operation-names.js";
import {
  type ChoiceOperation,
  choiceOperations,
  type FactoryOperation,
  factoryOperations,
  type UtilityChoice,
  type UtilityContexts,
} from "./contexts.js";
import type { Role } from "./credentials.js";
import { credentialRoles, type UtilitySelector } from "./entries.js";

type Definition = ContextDefinition<UtilitySelector>;

/** An operation as the service answers it, and as the ledger needs it. */
export interface CheckedOperation<O extends string = string, D extends Definition = Definition> {
  readonly operation: O;
  /** What the service writes. */
  readonly answered: D;
  /** The same with all required that the choice on the ledger needs: credentials, and the holding that is locked. */
  readonly strict: D;
  /** The roles whose credentials the operation needs. */
  readonly roles: readonly Role[];
  /** Whether a party without these is refused. */
  readonly requiresCredentials: boolean;
}

export interface CheckedOperations {
  readonly factories: ReadonlyMap<FactoryOperation, CheckedOperation<FactoryOperation>>;
  readonly choices: ReadonlyMap<ChoiceOperation, CheckedOperation<ChoiceOperation, UtilityChoice>>;
  readonly packageVersions: PackageVersions;
}

export const checkedOperations = ({
  factories,
  choices,
  table,
  packageVersions,
}: UtilityContexts): CheckedOperations => ({
  factories: new Map(
    factoryOperations.map((name) => [name, checkedOperation(name, table.rows[name]?.missing, factories[name])]),
  ),
  choices: new Map(
    choiceOperations.map((name) => [name, checkedOperation(name, table.rows[name]?.missing, choices[name])]),
  ),
  packageVersions,
});

function checkedOperation<O extends string, D extends Definition>(
  operation: O,
  missing: Missing | undefined,
  answered: D,
): CheckedOperation<O, D> {
  // Where what is missing is left out, the ledger needs none of it.
  if (missing === "allow") return { operation, answered, strict: answered, roles: [], requiresCredentials: false };
  const isNeeded = (name: string) => credentialRoles.has(name) || (name === "locked-holding" && !isExit(operation));
  const lines = answered.lines.map((line) => (isNeeded(line.name) ? { ...line, required: true } : line));
  const requiring = answered.lines.filter(({ name }) => credentialRoles.has(name));
  return {
    operation,
    answered,
    strict: { ...answered, lines },
    roles: [...new Set(requiring.flatMap(({ name }) => credentialRoles.get(name) ?? []))],
    requiresCredentials: requiring.some(({ required }) => required),
  };
}
