/** The choice contexts in force: utility.yaml with the changes of a module and the operator, compiled once at start. */
import { z } from "zod";
import type { Template } from "../../domain/template.js";
import { isAsyncFunction } from "../../util/async.js";
import { check, type Checked, formatMistake, type Mistake, type Path } from "../../util/operator-file.js";
import type { ContextDefinition } from "../engine/answer.js";
import { TableEntry } from "../engine/entries.js";
import type { ChoiceDefinition } from "../engine/operations.js";
import { type TableFields, type TableTemplate, tableTemplates } from "../engine/templates.js";
import { applyChanges, builtInTable, compileRow, type ContextTable, type Parts as TableParts } from "./changes.js";
import {
  changeForm,
  type ChoiceOperation,
  choiceOperations,
  contextsForm,
  entryName,
  type FactoryOperation,
  factoryOperations,
  type KnownParts,
  type OperationChange,
  type OwnEntryDefinition,
} from "./definition.js";
import { type ContextFunction, moduleEntry } from "../sdk/request.js";
import {
  builtInDisclosures,
  builtInEntries,
  type UtilityDisclosure,
  type UtilityEntry,
  type UtilitySelector,
} from "./entries.js";
import { instructionsOf, PackageVersions, templates as builtInTemplates } from "./templates.js";

export type UtilityChoice = ChoiceDefinition<UtilitySelector>;

/** The compiled contexts of all operations. */
export interface UtilityContexts {
  readonly factories: Readonly<Record<FactoryOperation, ContextDefinition<UtilitySelector>>>;
  readonly choices: Readonly<Record<ChoiceOperation, UtilityChoice>>;
  /** The templates of the Registry Utility, of the module, and of the operator's entries. */
  readonly templates: readonly Template[];
  readonly allocationTemplates: readonly Template<TableFields>[];
  readonly packageVersions: PackageVersions;
  /** The table in force. */
  readonly table: ContextTable;
}

/** What a table may name: built in, of a module, of the operator's file. */
interface Parts extends TableParts {
  readonly templates: readonly Template[];
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

/** As `checkContexts`. Throws an Error with every mistake of the file. */
export function compileContexts(file: unknown = {}, extension: unknown = {}): UtilityContexts {
  const { value, mistakes } = checkContexts(file, extension);
  if (mistakes === undefined) return value;
  throw new Error(mistakes.map(formatMistake).join("\n"));
}

/**
 * Compiles the contexts. `file` is the parsed content of the operator's contexts file, `extension` that of a module; both
 * are checked. Throws ExtensionError with every mistake of the module.
 */
export function checkContexts(file: unknown, extension: unknown = {}): Checked<UtilityContexts> {
  const { operations } = orThrow(check(extensionForm, extension, repeatedTemplates));
  // They are used as they are: they may be of classes.
  const { templates = [], entries = {}, allocations = [] } = extension as UtilityExtension;
  const written = Object.entries(entries).map(([name, entry]) => [name, moduleEntry(entry)] as const);
  const extended = partsWith(builtInParts, [...templates, ...allocations], written);
  const known = namesOf(extended);
  const ofModule = orThrow(check(z.array(changeForm(known)), operations), ["operations"]);
  const tableOfModule = applyChanges(builtInTable, ofModule, ["operations"]);
  if (tableOfModule.mistakes.length > 0) throw new ExtensionError(tableOfModule.mistakes);

  const isRead = new Set(extended.templates.map(templateName));
  const { value, mistakes = [] } = check(contextsForm(known, ownNames(file)), file ?? {}, ({ entries: own }) =>
    Object.entries(own ?? {})
      .filter(([, { template }]) => isRead.has(`${template.package}#${template.name}`))
      .map(([name]) => ({
        path: ["entries", name, "template"],
        message:
          "must be a template that the registry does not read already: extend the registry with a module instead",
      })),
  );
  if (value === undefined) return { mistakes };
  const table = applyChanges(tableOfModule.table, value.changes ?? [], ["changes"]);
  if (table.mistakes.length > 0) return table;
  const ofFile = ownEntries(value.entries ?? {});
  const parts = partsWith(extended, ofFile.templates, ofFile.entries);
  const packageVersions = new PackageVersions(new Map(Object.entries(value.packages ?? {})));
  const allocationTemplates = [...instructionsOf("allocation"), ...allocations];
  return {
    value: {
      ...compileTable(table.table, parts, packageVersions, allocationTemplates),
      templates: parts.templates,
      allocationTemplates,
      packageVersions,
      table: table.table,
    },
  };
}

function orThrow<T>({ value, mistakes }: Checked<T>, at: Path = []): T {
  if (mistakes === undefined) return value;
  throw new ExtensionError(mistakes.map(({ path, message }) => ({ path: [...at, ...path], message })));
}

/** The names of the file's entries, also of those with mistakes: a line that names one is right. */
function ownNames(file: unknown): readonly string[] {
  const { data } = z.looseObject({ entries: z.looseObject({}) }).safeParse(file);
  return Object.keys(data?.entries ?? {});
}

const builtInParts: Parts = {
  entries: new Map(Object.entries(builtInEntries)),
  disclosures: new Map(Object.entries(builtInDisclosures)),
  templates: builtInTemplates,
};

const namesOf = ({ entries, disclosures }: Parts): KnownParts => ({
  entries: [...entries.keys()],
  disclosures: [...disclosures.keys()],
});

type Entry = readonly [name: string, entry: UtilityEntry & Partial<UtilityDisclosure>];

const idOf = ({ template }: OwnEntryDefinition): string => `${template.package}#${template.name}`;

/** The entries of the operator's file, and their templates. Entries may share one. */
function ownEntries(definitions: Readonly<Record<string, OwnEntryDefinition>>) {
  // The order of entries in the file does not matter to what is stored.
  const all = Object.entries(definitions).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const sources = all.map(([name, one]) => {
    const prefixes = one.find.flatMap(({ field, prefix }) => (prefix === undefined ? [] : [[field, prefix] as const]));
    const find = Object.fromEntries(one.find.map(({ field, is }) => [field, is]));
    return [name, { template: idOf(one), find, value: one.value, prefixes: Object.fromEntries(prefixes) }] as const;
  });
  const templates = new Map<string, TableTemplate>();
  for (const [, one] of all) {
    const { package: packageName, name } = one.template;
    const finds = sources.filter(([, { template }]) => template === idOf(one));
    const entries = Object.fromEntries(finds.map(([entry, { template, find }]) => [entry, { template, find }]));
    const file = { package: packageName, templates: { [idOf(one)]: { name } }, entries };
    for (const [id, template] of tableTemplates(file)) templates.set(id, template);
  }
  const options = { templates, entries: new Map<string, TableEntry>(), isStrict: false };
  return {
    templates: [...templates.values()],
    entries: sources.map(([name, source]) => [name, new TableEntry(name, source, options)] as const),
  };
}

function partsWith(parts: Parts, templates: readonly Template[], entries: readonly Entry[]): Parts {
  const disclosures = entries.filter(
    (entry): entry is [string, UtilityEntry & UtilityDisclosure] => "disclose" in entry[1],
  );
  return {
    entries: new Map([...parts.entries, ...entries]),
    disclosures: new Map([...parts.disclosures, ...disclosures]),
    templates: [...parts.templates, ...templates],
  };
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

/** Of a module, which may be plain JavaScript. */
const extensionForm = z.strictObject({
  templates: templateList,
  entries: z.record(entryName(namesOf(builtInParts)), synchronous).default({}),
  operations: z.array(z.unknown()).default([]),
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

function compileTable(
  table: ContextTable,
  parts: Parts,
  packageVersions: PackageVersions,
  allocationTemplates: readonly Template<TableFields>[],
): Pick<UtilityContexts, "factories" | "choices"> {
  const factories = factoryOperations.map((name) => [name, compileRow(table[name], parts, packageVersions)] as const);
  const choices = choiceOperations.map((name): readonly [string, UtilityChoice] => {
    const [kind = ""] = name.split("/", 1);
    const templates = kind === "allocation" ? allocationTemplates : instructionsOf(kind);
    return [name, { ...compileRow(table[name], parts, packageVersions), label: kind.replaceAll("-", " "), templates }];
  });
  // Both lists have every name of their type.
  return {
    factories: Object.fromEntries(factories) as UtilityContexts["factories"],
    choices: Object.fromEntries(choices) as UtilityContexts["choices"],
  };
}

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
   * Entries by name: lower-case letters, digits and hyphens, not the name of a built-in entry or disclosure. They stand in
   * the operations whose changes add them, of this module and of the operator's contexts file. Among the disclosures the
   * value of an entry is not written.
   */
  readonly entries?: Readonly<Record<string, ContextFunction>>;
  /** Changes of the table of operations, in order. The changes of the operator's contexts file come after them. */
  readonly operations?: readonly OperationChange[];
  /**
   * Further templates of allocations, besides DvpLegAllocation: the choices on allocations and the settlement factory
   * accept their contracts. What applies to `templates` applies to them.
   */
  readonly allocations?: readonly Template<TableFields>[];
}
