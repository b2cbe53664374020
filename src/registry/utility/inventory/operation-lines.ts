/** The definitions of the contexts, taken apart, to find which lines of an operation make it fail. */
import type { UtilityContexts } from "../contexts/contexts.js";
import {
  factoryOperations,
  type FactoryOperation,
  type ChoiceOperation,
  isExit,
  type Operation,
} from "../contexts/operations.js";
import type { OperationRow } from "../contexts/table.js";
import type { PackageVersions } from "../contexts/versions.js";
import type { ContextDefinition, DisclosureRule, EntryRule } from "../entries/context-definition.js";
import {
  holderCredentialsEntry,
  issuerCredentialsEntry,
  receiverCredentialsEntry,
  senderCredentialsEntry,
} from "../entries/credentials.js";
import { lockedHoldingDisclosure } from "../entries/disclosures.js";
import type { Role } from "../selection/credentials.js";

/** An operation as the service answers it, and as the ledger needs it. */
export interface Definitions {
  /** What the service writes. */
  readonly answered: ContextDefinition;
  /** The same with all required that the choice on the ledger needs: credentials, and the holding that is locked. */
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
  const ofEntry = definition.entries.map((rule, index): Line => {
    const only = { entries: [rule], disclosures: [], refusesBlocklist, allowsMissing };
    return { name: row.entries[index]?.entry ?? "", answered: only, strict: { ...only, entries: [needed(rule)] } };
  });
  const disclosures = isExit(operation) ? definition.disclosures : definition.disclosures.map(needed);
  const ofDisclosure = definition.disclosures.map((rule, index): Line => {
    const only = { entries: [], disclosures: [rule], refusesBlocklist, allowsMissing };
    const strict = { ...only, disclosures: disclosures.slice(index, index + 1) };
    return { name: row.disclosures[index]?.disclosure ?? "", answered: only, strict };
  });
  const base = { operation, answered: definition };
  const requiring = definition.entries.filter(({ part }) => credentialRoles.has(part));
  // Where what is missing is left out, the ledger needs none of it.
  if (allowsMissing) {
    const lines = [...ofEntry, ...ofDisclosure].map(({ name, answered }) => ({ name, answered, strict: answered }));
    return { ...base, strict: definition, lines, roles: [], requiresCredentials: false };
  }
  return {
    ...base,
    strict: { ...definition, entries: definition.entries.map(needed), disclosures },
    lines: [...ofEntry, ...ofDisclosure],
    roles: [...new Set(requiring.flatMap(({ part }) => credentialRoles.get(part) ?? []))],
    requiresCredentials: requiring.some(({ required }) => required),
  };
}

/** The rule as the choice on the ledger has it, which needs credentials, and the holding that is locked. */
const needed = <R extends EntryRule | DisclosureRule>(rule: R): R =>
  credentialRoles.has(rule.part) || rule.part === lockedHoldingDisclosure
    ? { ...rule, required: true, requiredWhen: undefined }
    : rule;

const credentialRoles = new Map<unknown, Role>([
  [senderCredentialsEntry, "holder"],
  [receiverCredentialsEntry, "holder"],
  [holderCredentialsEntry, "holder"],
  [issuerCredentialsEntry, "issuer"],
]);
