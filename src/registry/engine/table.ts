/** A table, compiled: its templates, its entries, and the lines of each operation. */
import type { Contract } from "../../domain/contract.js";
import type { View } from "../../state/port.js";
import type { Choice } from "../sdk/registry.js";
import { TRANSFER_KINDS, type TransferKind } from "../../domain/choice-context.js";
import { CHOICES, FACTORIES, type Factory, isExit, type TableOperation } from "../operation-names.js";
import type { ContextLine, EntryPart, LineCondition } from "./choice-context.js";
import { TableEntry } from "./entries.js";
import type { Row, Table, TableLine, Vocabulary } from "./table-types.js";
import { type Condition, type EntryDefinition, factoriesOf } from "./grammar.js";
import { foundBy } from "./names.js";
import type { ChoiceDefinition } from "./operations.js";
import type { Group } from "./selector.js";
import { type TableFields, type TableTemplate, tableTemplates } from "./templates.js";
import { PackageVersions } from "./versions.js";

/** What the lines of a table are compiled with. */
export interface Parts {
  readonly entries: ReadonlyMap<string, EntryPart>;
  readonly facts: Vocabulary["facts"];
  readonly versions: PackageVersions;
}

interface CompiledFactory {
  readonly definition: EntryDefinition;
  readonly entry: TableEntry;
  readonly template: TableTemplate;
}

/** A registry file as it is served. */
export interface CompiledTable {
  readonly table: Table;
  readonly templates: ReadonlyMap<string, TableTemplate>;
  readonly entries: ReadonlyMap<string, TableEntry>;
  readonly parts: Parts;
  /** Whether a line is for versions of a package. */
  readonly dependsOnVersions: boolean;
  /** By operation; an operation that the registry does not have has none. */
  readonly factories: ReadonlyMap<Factory, CompiledFactory>;
  readonly choices: ReadonlyMap<Choice, ChoiceDefinition>;
  /** Of the context of a factory; that of a transfer has the lines of all kinds. */
  readonly lines: Readonly<Record<Factory, readonly ContextLine[]>>;
  /** The entries of an operation whose contracts are read by id: of its lines, their conditions, and what leads to these. */
  readonly readById: ReadonlyMap<string, readonly TableEntry[]>;
  kindOf(...request: Parameters<LineCondition>): TransferKind;
}

/** A table has no groups beside its registrars. */
export const groupOf = (registrar: string): Group => ({ registrar, operator: undefined, provider: undefined });

/** `namesInstruments`: whether the instruments file names some. */
export function compileTable(table: Table, namesInstruments = false): CompiledTable {
  const { file, rows } = table;
  const templates = tableTemplates({ ...file, templates: table.templates, entries: table.entries, namesInstruments });
  const entries = tableEntries(table, templates);
  const versions = new PackageVersions(new Map(Object.entries(table.packages)));
  const parts = { entries, facts: table.vocabulary.facts, versions };
  const linesOf = (operation: TableOperation) => [...compileRow(rows[operation], parts), factoryLine];
  const choices = standardChoices(
    (kind) =>
      Object.entries(table.templates).flatMap(([name, one]) =>
        one.choices === kind ? (templates.get(name) ?? []) : [],
      ),
    linesOf,
  );
  const direct = file.direct === undefined ? undefined : entries.get(file.direct);
  const kindOf: CompiledTable["kindOf"] = (selector, subject) => {
    if (subject.isSelf === true) return "self";
    return direct?.has(selector, subject) === true ? "direct" : "offer";
  };
  const factories = Array.from(factoriesOf(file.factory), ([operation, definition]) => {
    const template = templates.get(definition.template);
    if (template === undefined) throw new Error(`template ${definition.template} is not defined`);
    const entry = new TableEntry("factory", definition, optionsOf(table, templates, entries));
    return [operation, { definition, entry, template }] as const;
  });
  const operations = [...FACTORIES, ...CHOICES];
  const dependsOnVersions = Object.values(rows).some(({ lines }) =>
    lines.some(({ if: only, unless }) => [...only, ...unless].some((one) => typeof one === "object")),
  );
  return {
    table,
    templates,
    entries,
    parts,
    dependsOnVersions,
    factories: new Map(factories),
    choices,
    readById: new Map(operations.map((one) => [one, entriesReadById(table, entries, one)])),
    lines: {
      "transfer-factory": [...transferLines(table, parts, kindOf), factoryLine],
      "allocation-factory": linesOf("allocation-factory"),
      "settlement-factory": linesOf("settlement-factory"),
    },
    kindOf,
  };
}

function entriesReadById(
  { file, rows, entries: definitions }: Table,
  entries: ReadonlyMap<string, TableEntry>,
  operation: Factory | Choice,
): readonly TableEntry[] {
  const isTransfer = operation === "transfer-factory";
  const ofOperation = isTransfer ? TRANSFER_KINDS.map((kind) => rows[`${operation}/${kind}`]) : [rows[operation]];
  const named = ofOperation
    .flatMap((row) => row?.lines ?? [])
    .flatMap((line) => [line.name, line.if, line.unless].flat());
  const names = new Set<unknown>([...named, ...(isTransfer ? [file.direct] : [])]);
  const found: TableEntry[] = [];
  // The set grows meanwhile.
  for (const name of names) {
    const entry = typeof name === "string" ? entries.get(name) : undefined;
    if (entry === undefined) continue;
    for (const other of foundBy(definitions[entry.name] ?? {})) names.add(other);
    if (entry.isReadById) found.push(entry);
  }
  return found;
}

/** The templates of the factories, each once. */
export const factoryTemplates = ({ factories }: Pick<CompiledTable, "factories">): readonly TableTemplate[] => [
  ...new Set(Array.from(factories.values(), ({ template }) => template)),
];

/** The factories of all registrars, each once: one contract may be several. */
export const allFactories = (table: CompiledTable, view: View): readonly Contract<TableFields>[] => [
  ...new Set(factoryTemplates(table).flatMap((template) => view.all(template))),
];

/** The choices of the token standard: each on the contracts of the templates of its kind. */
export const standardChoices = (
  templatesOf: (kind: string) => ChoiceDefinition["templates"],
  linesOf: (choice: Choice) => readonly ContextLine[],
): ReadonlyMap<Choice, ChoiceDefinition> =>
  new Map(CHOICES.map((choice) => [choice, onInstructions(choice, linesOf(choice), templatesOf)]));

/** The context of a choice, whose name begins with what the instruction is. */
export function onInstructions(
  operation: ChoiceDefinition["operation"],
  lines: readonly ContextLine[],
  templatesOf: (kind: string) => ChoiceDefinition["templates"],
): ChoiceDefinition {
  const [kind = "", action = ""] = operation.split("/");
  const label = kind.replaceAll("-", " ");
  return { operation, lines, label, action, templates: templatesOf(kind), isExit: isExit(operation) };
}

/** The lines of all kinds, each for its own. Usually they are the same. */
function transferLines({ rows }: Table, parts: Parts, kindOf: CompiledTable["kindOf"]): readonly ContextLine[] {
  const linesOf = (kind: TransferKind) => compileRow(rows[`transfer-factory/${kind}`], parts);
  const written = new Set(TRANSFER_KINDS.map((kind) => JSON.stringify(rows[`transfer-factory/${kind}`])));
  if (written.size === 1) return linesOf("offer");
  return TRANSFER_KINDS.flatMap((kind) =>
    linesOf(kind).map((line) => onlyWhere(line, (...request) => kindOf(...request) === kind)),
  );
}

const onlyWhere = (line: ContextLine, holds: LineCondition): ContextLine => ({
  ...line,
  when: (...request) => holds(...request) && (line.when === undefined || line.when(...request)),
});

const optionsOf = (
  { file, vocabulary: { partiesOf } }: Table,
  templates: ReadonlyMap<string, TableTemplate>,
  entries: ReadonlyMap<string, TableEntry>,
) => ({ templates, entries, elsewhere: file.elsewhere ?? "refuse", partiesOf });

/** The entries that are found by their templates. */
export function tableEntries(
  table: Table,
  templates: ReadonlyMap<string, TableTemplate>,
): ReadonlyMap<string, TableEntry> {
  const entries = new Map<string, TableEntry>();
  const options = optionsOf(table, templates, entries);
  for (const [name, definition] of Object.entries(table.entries))
    entries.set(name, new TableEntry(name, definition, options));
  return entries;
}

/** The lines of an operation. A request evaluates no names and no text. */
export const compileRow = (row: Pick<Row, "lines"> | undefined, parts: Parts): readonly ContextLine[] =>
  (row?.lines ?? []).map((line) => compileLine(line, parts));

function compileLine(line: TableLine, parts: Parts): ContextLine {
  const { name, keys, missing } = line;
  return {
    name,
    keys,
    write: writeOf(line, parts),
    required: missing === "refuse",
    allowsMissing: missing === "allow",
    when: conditionOf(line, parts),
  };
}

function writeOf(line: TableLine, { entries }: Parts): ContextLine["write"] {
  const { kind, name, of, disclose = true, constant } = line;
  if (constant !== undefined) return () => constant;
  const entry = entries.get(name);
  // Reading the table has rejected names that are not defined, and what an entry cannot do.
  if (entry === undefined) throw new Error(`entry ${name} is not defined`);
  switch (kind) {
    case "entry":
      return (...answer) => entry.value?.(...answer, of);
    case "disclosure":
      return (...answer) => {
        entry.disclose?.(...answer, of);
      };
    case "require":
      return (_builder, selector, subject) => {
        entry.require?.(selector, subject);
      };
    case "exists":
      return (builder, selector, subject) => entry.exists?.(disclose ? builder : undefined, selector, subject);
    default:
      return (_builder, selector, subject) => ({ tag: "AV_Bool", value: entry.has?.(selector, subject) !== true });
  }
}

/** First `unless`: a transfer to oneself needs no look-up. */
function conditionOf({ if: only, unless }: TableLine, parts: Parts): LineCondition | undefined {
  const excluding = unless.map((one) => compileCondition(one, parts));
  const including = only.map((one) => compileCondition(one, parts));
  if (excluding.length + including.length === 0) return undefined;
  return (...request) => !excluding.some((holds) => holds(...request)) && including.every((holds) => holds(...request));
}

function compileCondition(condition: Condition, { entries, facts, versions }: Parts): LineCondition {
  if (typeof condition !== "string") return (_selector, { contract }) => versions.meets(condition, contract);
  const fact = Object.hasOwn(facts, condition) ? facts[condition] : undefined;
  if (fact !== undefined) return fact;
  const entry = entries.get(condition);
  return (...request) => entry?.has?.(...request) === true;
}

/** The factory of the answer is disclosed. */
const factoryLine: ContextLine = {
  name: "factory",
  keys: [],
  required: true,
  write(builder, _answer, { factory }) {
    if (factory !== undefined) builder.disclose(factory);
  },
};
