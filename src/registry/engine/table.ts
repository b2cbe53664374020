/** A registry file, compiled: its templates, its entries, and the lines of each operation. */
import type { AnyValue, Choice, RequestContext } from "../sdk/registry.js";
import type { ContextDefinition, ContextLine, LineCondition } from "./answer.js";
import { type Line, type Operation, OPERATIONS, type RegistryFile } from "./definition.js";
import { TableEntry } from "./entries.js";
import type { ChoiceDefinition } from "./operations.js";
import { ContractSelector, type Group } from "./selector.js";
import { type TableTemplate, tableTemplates } from "./templates.js";

export interface Table {
  readonly file: RegistryFile;
  readonly templates: ReadonlyMap<string, TableTemplate>;
  readonly entries: ReadonlyMap<string, TableEntry>;
  readonly factory: TableEntry;
  readonly factoryTemplate: TableTemplate;
  readonly contexts: ReadonlyMap<Operation, ContextDefinition>;
  readonly choices: ReadonlyMap<Choice, ChoiceDefinition>;
}

/** A table has no groups beside its registrars. */
export const groupOf = (registrar: string): Group => ({ registrar, operator: undefined, provider: undefined });

export function compileTable(file: RegistryFile): Table {
  const templates = tableTemplates(file);
  const entries = new Map<string, TableEntry>();
  const options = { templates, entries, isStrict: true };
  for (const [name, definition] of Object.entries(file.entries ?? {}))
    entries.set(name, new TableEntry(name, definition, options));
  const contextOf = (operation: Operation): ContextDefinition => {
    const lines = [...linesOf(file, "*"), ...linesOf(file, operation)].map((line) => compileLine(line, entries));
    return { lines: [...lines, factoryLine], selector: tableSelector };
  };
  const choices = new Map(
    OPERATIONS.filter((operation): operation is Choice & Operation => operation.includes("/")).map((operation) => {
      const [kind = ""] = operation.split("/", 1);
      const ofKind = Object.entries(file.templates).filter(([, { choices: one }]) => one === kind);
      return [
        operation,
        {
          ...contextOf(operation),
          label: kind.replaceAll("-", " "),
          templates: ofKind.flatMap(([name]) => templates.get(name) ?? []),
        },
      ] as const;
    }),
  );
  const factoryTemplate = templates.get(file.factory.template);
  if (factoryTemplate === undefined) throw new Error(`template ${file.factory.template} is not defined`);
  return {
    file,
    templates,
    entries,
    factory: new TableEntry("factory", file.factory, options),
    factoryTemplate,
    contexts: new Map(OPERATIONS.map((operation) => [operation, contextOf(operation)])),
    choices,
  };
}

export const tableSelector = (context: RequestContext, group: Group, synchronizer: string): ContractSelector =>
  new ContractSelector(context, group, synchronizer);

/** A line, with the line that includes it. */
interface FlatLine {
  readonly line: Line;
  readonly outer: Line | undefined;
}

/** The lines of an operation, those that it includes in place. */
export const linesOf = ({ operations = {} }: RegistryFile, operation: Operation | "*"): readonly FlatLine[] =>
  (operations[operation] ?? []).flatMap((line): FlatLine[] =>
    line.include === undefined
      ? [{ line, outer: undefined }]
      : (operations[line.include as Operation] ?? []).map((inner) => ({ line: inner, outer: line })),
  );

export function compileLine({ line, outer }: FlatLine, entries: ReadonlyMap<string, TableEntry>): ContextLine {
  const { key = [], of, disclose = true, constant } = line;
  const name = line.entry ?? line.disclosure ?? line.require ?? line.exists ?? line.archived ?? "constant";
  const entry = entries.get(name);
  const write = (): ContextLine["write"] => {
    if (constant !== undefined) return () => constant as AnyValue;
    if (entry === undefined) throw new Error(`entry ${name} is not defined`);
    if (line.entry !== undefined)
      return (builder, answer, inputs, required) => entry.value(builder, answer, inputs, required, of);
    if (line.disclosure !== undefined)
      return (builder, answer, inputs, required) => {
        entry.disclose(builder, answer, inputs, required, of);
      };
    if (line.require !== undefined)
      return (_builder, answer, inputs) => {
        entry.require(answer, inputs);
      };
    if (line.exists !== undefined)
      return (builder, answer, inputs) => entry.exists(disclose ? builder : undefined, answer, inputs);
    return (_builder, answer, inputs) => ({ tag: "AV_Bool", value: !entry.has(answer, inputs) });
  };
  return {
    name,
    keys: typeof key === "string" ? [key] : key,
    write: write(),
    required: entry?.definition.optional !== true,
    when: conditionOf(outer === undefined ? [line] : [outer, line], entries),
  };
}

/** First `unless`: a transfer to oneself needs no look-up. */
function conditionOf(
  lines: readonly Pick<Line, "if" | "unless">[],
  entries: ReadonlyMap<string, TableEntry>,
): LineCondition<ContractSelector> | undefined {
  const has =
    (name: string): LineCondition<ContractSelector> =>
    (answer, inputs) =>
      name === "self" ? inputs.isSelf === true : entries.get(name)?.has(answer, inputs) === true;
  const conditions = lines.flatMap(({ if: only, unless }): LineCondition<ContractSelector>[] => {
    const not = unless === undefined ? undefined : has(unless);
    return [
      ...(not === undefined ? [] : [(...request: Parameters<typeof not>) => !not(...request)]),
      ...(only === undefined ? [] : [has(only)]),
    ];
  });
  return conditions.length === 0
    ? undefined
    : (answer, inputs) => conditions.every((condition) => condition(answer, inputs));
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
