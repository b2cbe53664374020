/** The definitions of the contexts, taken apart, to find which lines of an operation make it fail. */
import type { View } from "../../../store/port.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import {
  factoryOperations,
  type FactoryOperation,
  type ChoiceOperation,
  type Operation,
} from "../contexts/operations.js";
import type { OperationRow } from "../contexts/table.js";
import type { PackageVersions } from "../contexts/versions.js";
import {
  type ContextDefinition,
  type EntryRule,
  prefetchContext,
  prefetchInputs,
} from "../entries/context-definition.js";
import type { PrefetchInputs } from "../entries/context-entry.js";
import {
  holderCredentialsEntry,
  issuerCredentialsEntry,
  receiverCredentialsEntry,
  senderCredentialsEntry,
} from "../entries/credentials.js";
import type { Role } from "../selection/credentials.js";

/** An operation as the service answers it, and as the ledger needs it. */
export interface Definitions {
  /** What the service writes. */
  readonly answered: ContextDefinition;
  /** The same with every credential required, as the choice on the ledger requires them. */
  readonly strict: ContextDefinition;
}

/** One line of an operation, as a definition that has only this line. */
export interface Line extends Definitions {
  /** The name of the entry or disclosure in the table. */
  readonly name: string;
}

export interface OperationLines<O extends Operation = Operation> extends Definitions {
  readonly operation: O;
  /** In the order in which they are written. */
  readonly lines: readonly Line[];
  /** The roles whose credentials the operation needs. */
  readonly roles: readonly Role[];
  /** Whether a party without these is refused. */
  readonly requiresCredentials: boolean;
}

export interface LinesByOperation {
  readonly factories: ReadonlyMap<FactoryOperation, OperationLines<FactoryOperation>>;
  readonly choices: ReadonlyMap<ChoiceOperation, OperationLines<ChoiceOperation>>;
  readonly packageVersions: PackageVersions;
}

export function linesByOperation({ factories, choices, table, packageVersions }: UtilityContexts): LinesByOperation {
  const byFactory = factoryOperations.map((name) => [name, linesOf(name, table[name], factories[name])] as const);
  // The record has exactly the names of its type.
  const byChoice = (Object.keys(choices) as ChoiceOperation[]).map(
    (name) => [name, linesOf(name, table[name], choices[name])] as const,
  );
  return { factories: new Map(byFactory), choices: new Map(byChoice), packageVersions };
}

/** `definition` is compiled from `row`, so their lines correspond. */
function linesOf<O extends Operation>(
  operation: O,
  row: OperationRow,
  definition: ContextDefinition,
): OperationLines<O> {
  const { refusesBlocklist, allowsMissing } = definition;
  const entries = definition.entries.map((rule, index): Line => {
    const only = { entries: [rule], disclosures: [], refusesBlocklist, allowsMissing };
    return { name: row.entries[index]?.entry ?? "", answered: only, strict: { ...only, entries: [toStrict(rule)] } };
  });
  const disclosures = definition.disclosures.map((rule, index): Line => {
    const only = { entries: [], disclosures: [rule], refusesBlocklist, allowsMissing };
    return { name: row.disclosures[index]?.disclosure ?? "", answered: only, strict: only };
  });
  return {
    operation,
    answered: definition,
    strict: { ...definition, entries: definition.entries.map(toStrict) },
    lines: [...entries, ...disclosures],
    roles: [...new Set(definition.entries.flatMap(({ part }) => credentialRoles.get(part) ?? []))],
    requiresCredentials: definition.entries.some(({ part, required }) => required && credentialRoles.has(part)),
  };
}

const toStrict = (rule: EntryRule): EntryRule =>
  credentialRoles.has(rule.part) ? { ...rule, required: true, requiredWhen: undefined } : rule;

const credentialRoles = new Map<unknown, Role>([
  [senderCredentialsEntry, "holder"],
  [receiverCredentialsEntry, "holder"],
  [holderCredentialsEntry, "holder"],
  [issuerCredentialsEntry, "issuer"],
]);

/** Announcements take two round trips, in this order. */
export const prefetchPhases = ["inputs", "configurations"] as const;
export type PrefetchPhase = (typeof prefetchPhases)[number];

/** Announces what the attempts of an operation look up. `strict` looks up the same contracts as `answered`. */
export const prefetchOperation = (
  view: View,
  { strict }: Definitions,
  inputs: PrefetchInputs,
  phase: PrefetchPhase,
): void => (phase === "inputs" ? prefetchInputs(view, [strict], inputs) : prefetchContext(view, strict, inputs));
