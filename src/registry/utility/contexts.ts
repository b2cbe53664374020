/** The choice contexts in force: utility.yaml with the changes of a module and the operator, compiled once at start. */
import { z } from "zod";
import type { Template } from "../../domain/template.js";
import { isAsyncFunction } from "../../util/async.js";
import { check, type Checked, formatMistake, type Mistake, type Path } from "../../util/operator-file.js";
import type { ContextDefinition } from "../engine/choice-context.js";
import { checkExtension, extend } from "../engine/extend.js";
import { resolve } from "../engine/file.js";
import type { Table, Vocabulary } from "../engine/table-types.js";
import { changeForm, type OperationChange } from "../engine/grammar.js";
import type { ChoiceDefinition } from "../engine/operations.js";
import { compileRow, onInstructions, tableEntries } from "../engine/table.js";
import { type TableFields, tableTemplates } from "../engine/templates.js";
import { PackageVersions } from "../engine/versions.js";
import {
  type Choice,
  CHOICES,
  isExit,
  ISSUANCE_CHOICES,
  ISSUANCE_FACTORIES,
  type IssuanceChoice,
  STANDARD_OPERATIONS,
  type TableOperation,
} from "../operation-names.js";
import { type ContextFunction, moduleEntry } from "../sdk/request.js";
import type { Role } from "./credentials.js";
import { credentialRoles, facts, functions, partiesOf } from "./entries.js";
import { byName, instructionsOf, PUBLISHED, templates as builtInTemplates, utilityFile } from "./templates.js";

type ChoiceOperation = Choice | IssuanceChoice;
type FactoryOperation = Exclude<(typeof STANDARD_OPERATIONS)[number], Choice> | (typeof ISSUANCE_FACTORIES)[number];

const factoryOperations: readonly FactoryOperation[] = [
  ...STANDARD_OPERATIONS.filter((name): name is Exclude<typeof name, Choice> => name.includes("-factory")),
  ...ISSUANCE_FACTORIES,
];
const choiceOperations: readonly ChoiceOperation[] = [...CHOICES, ...ISSUANCE_CHOICES];

/** An operation with the credentials that it needs. */
export interface UtilityOperation extends ContextDefinition {
  readonly operation: TableOperation;
  /** The roles whose credentials the operation needs. */
  readonly roles: readonly Role[];
  /** Whether a party without these is refused. */
  readonly requiresCredentials: boolean;
}

/** Choices on what a factory makes. It makes allocations at once: an instruction to make one is checked where it exists. */
export const isUsual = ({ operation }: UtilityOperation): boolean => !operation.startsWith("allocation-instruction/");

/** The compiled contexts of all operations. */
export interface UtilityContexts {
  readonly factories: Readonly<Record<FactoryOperation, UtilityOperation>>;
  readonly choices: Readonly<Record<ChoiceOperation, UtilityOperation & ChoiceDefinition>>;
  /** The templates of the Registry Utility, of the module, and of files. */
  readonly templates: readonly Template[];
  readonly allocationTemplates: readonly Template<TableFields>[];
  readonly packageVersions: PackageVersions;
  /** The table in force. */
  readonly table: Table;
}

/** The table of the Registry Utility, with what a module adds. */
export interface UtilityTable {
  readonly table: Table;
  readonly allocations: readonly Template<TableFields>[];
}

/** The extension of a module is wrong. */
export class ExtensionError extends Error {
  readonly problems: readonly string[];

  constructor(mistakes: readonly Mistake[]) {
    const problems = mistakes.map(({ path, message }) => formatMistake({ path: ["module", ...path], message }));
    super(problems.join("\n"));
    this.name = "ExtensionError";
    this.problems = problems;
  }
}

/**
 * Compiles the contexts. `file` is the parsed content of the operator's contexts file, `extension` that of a module; both
 * are checked. Throws an Error with every mistake of the file, and ExtensionError with those of the module.
 */
export function compileContexts(file: unknown = {}, extension: unknown = {}): UtilityContexts {
  const base = utilityTable(extension);
  const { value: table, mistakes } = checkExtension(base.table, file);
  if (table !== undefined) return compileUtility({ ...base, table });
  throw new Error(mistakes.map(formatMistake).join("\n"));
}

/** The table with the templates, entries and changes of a module. Throws ExtensionError with every mistake of the module. */
export function utilityTable(extension: unknown = {}): UtilityTable {
  const { changes: written } = orThrow(check(extensionForm, extension, repeatedTemplates));
  // They are used as they are: they may be of classes.
  const { templates = [], entries = {}, allocations = [] } = extension as UtilityExtension;
  const parts = new Map(Object.entries(entries).map(([name, write]) => [name, moduleEntry(write)] as const));
  const named = new Set<Template>(byName.values());
  const others = [...builtInTemplates.filter((one) => !named.has(one)), ...templates, ...allocations];
  const vocabulary: Vocabulary = {
    operations: [...factoryOperations, ...choiceOperations],
    facts,
    partiesOf,
    functions,
    parts,
    templates: new Map<string, Template>([...byName, ...others.map((one) => [templateName(one), one] as const)]),
  };
  const table = orThrow(resolve(utilityFile, vocabulary));
  const changes = orThrow(check(z.array(changeForm), written), ["changes"]);
  // Its templates are those of the vocabulary.
  return { table: orThrow(extend({ ...table, templates: {} }, { changes })), allocations };
}

/** A table is compiled once, at start. */
export function compileUtility({ table, allocations }: UtilityTable): UtilityContexts {
  const own = tableTemplates({ templates: table.templates, entries: table.entries });
  const entries = new Map([...table.parts, ...tableEntries(table, new Map([...byName, ...own]))]);
  const versions = new PackageVersions(new Map(Object.entries(table.packages)), PUBLISHED);
  const parts = { entries, facts: table.vocabulary.facts, versions };
  const allocationTemplates = [...instructionsOf("allocation"), ...allocations];
  const linesOf = (name: FactoryOperation | ChoiceOperation) => compileRow(table.rows[name], parts);
  const ofKind = (kind: string) => (kind === "allocation" ? allocationTemplates : instructionsOf(kind));
  const known = new Set([...builtInTemplates, ...table.vocabulary.templates.values()]);
  return {
    factories: recordOf(factoryOperations, (operation) => withNeeds(table, { operation, lines: linesOf(operation) })),
    choices: recordOf(choiceOperations, (operation) =>
      withNeeds(table, onInstructions(operation, linesOf(operation), ofKind)),
    ),
    templates: [...known, ...own.values()],
    allocationTemplates,
    packageVersions: versions,
    table,
  };
}

/** `names` are all of their type. */
const recordOf = <K extends string, T>(names: readonly K[], of: (name: K) => T) =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, T>;

/** The ledger needs credentials, and the holding that is locked. */
function withNeeds<D extends Pick<UtilityOperation, "operation" | "lines">>({ rows }: Table, definition: D) {
  const { operation, lines } = definition;
  // Where what is missing is left out, the ledger needs none of it.
  if (rows[operation]?.missing === "allow") return { ...definition, roles: [], requiresCredentials: false };
  const isNeeded = (name: string) => credentialRoles.has(name) || (name === "locked-holding" && !isExit(operation));
  const strictLines = lines.map((line) => (isNeeded(line.name) ? { ...line, required: true } : line));
  const requiring = lines.filter(({ name }) => credentialRoles.has(name));
  return {
    ...definition,
    strictLines,
    roles: [...new Set(requiring.flatMap(({ name }) => credentialRoles.get(name) ?? []))],
    requiresCredentials: requiring.some(({ required }) => required),
  };
}

function orThrow<T>({ value, mistakes }: Checked<T>, at: Path = []): T {
  if (mistakes === undefined) return value;
  throw new ExtensionError(mistakes.map(({ path, message }) => ({ path: [...at, ...path], message })));
}

const synchronous = z.custom((value) => typeof value === "function" && !isAsyncFunction(value), {
  error: "must be a synchronous function",
});
const text = z.string().min(1);
const templateList = z
  .array(
    z.object({
      packageName: text,
      qualifiedName: text,
      parse: synchronous,
      revision: text.optional(),
      supplyContribution: synchronous.optional(),
    }),
  )
  .default([]);

const entryName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, "must be a name of lower-case letters, digits and hyphens that begins with a letter")
  .refine(
    (name) => !Object.hasOwn(utilityFile.entries ?? {}, name) && !Object.hasOwn(facts, name),
    "must have another name: there is an entry of this name already",
  );

/** Of a module, which may be plain JavaScript. */
const extensionForm = z.strictObject({
  templates: templateList,
  entries: z.record(entryName, synchronous).default({}),
  changes: z.array(z.unknown()).default([]),
  allocations: templateList,
});

function repeatedTemplates({ templates: found, allocations }: z.output<typeof extensionForm>): Mistake[] {
  const known = new Set(builtInTemplates.map(templateName));
  return Object.entries({ templates: found, allocations }).flatMap(([list, added]) =>
    added.flatMap((template, index) => {
      const name = templateName(template);
      const isKnown = known.has(name);
      known.add(name);
      return isKnown
        ? [{ path: [list, index], message: `must be another template: there is one of the name ${name}` }]
        : [];
    }),
  );
}

const templateName = ({ packageName, qualifiedName }: Pick<Template, "packageName" | "qualifiedName">): string =>
  `${packageName}#${qualifiedName}`;

/**
 * What a module adds to the Registry Utility. Every field is optional. The service checks it when it starts, and exits with
 * code 2 and the reasons if it is wrong.
 */
export interface UtilityExtension {
  /**
   * The templates that the module's entries look up. Package and qualified name must not be those of a template of the
   * Registry Utility. The service mirrors their contracts, so the participant must have their packages. Give each a
   * `revision`, and change it whenever `parse` returns other fields or index keys: a database is then filled again.
   */
  readonly templates?: readonly Template[];
  /**
   * Entries by name: lower-case letters, digits and hyphens, not the name of a built-in entry. They stand in the operations
   * whose changes add them, of this module and of the operator's contexts file. As a disclosure the value of an entry is not
   * written.
   */
  readonly entries?: Readonly<Record<string, ContextFunction>>;
  /** Changes of the operations, in order. Those of the operator's contexts file come after them. */
  readonly changes?: readonly OperationChange[];
  /**
   * Further templates of allocations, besides DvpLegAllocation: the choices on allocations and the settlement factory
   * accept their contracts. What applies to `templates` applies to them.
   */
  readonly allocations?: readonly Template<TableFields>[];
}
