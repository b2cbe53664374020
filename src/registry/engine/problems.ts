/** What will fail where the registry is a table, and of pending instructions. */
import type { Contract } from "../../domain/contract.js";
import { findProblems, type Run } from "../check/runs.js";
import { neededContract, onOneSynchronizer } from "../needed.js";
import { type Check, type CheckContext, type Warning, warningOf } from "../sdk/warnings.js";
import { type ContextDefinition, writeContext } from "./choice-context.js";
import { FACTORIES, type Factory, isExit, type TableOperation } from "../operation-names.js";
import type { TableLine } from "./table-types.js";
import { allOf } from "./entries.js";
import { answerOn, type CheckedChoice, type ChoiceDefinition } from "./operations.js";
import type { Group } from "./selector.js";
import { checkedChoices, type CompiledTable, compileRow, factoryTemplates, groupOf } from "./table.js";
import type { TableFields, TableTemplate } from "./templates.js";

/** Why operations on a pending instruction fail: its choices, and `others`. */
export function checkInstruction(
  context: CheckContext,
  instruction: Contract<TableFields>,
  choices: readonly CheckedChoice[],
  group: Group,
  others: readonly Run[] = [],
): readonly Warning[] {
  const { contractId, fields } = instruction;
  const subject = { registrar: group.registrar, instrument: fields.instruments[0], contractId };
  const run = (definition: ChoiceDefinition) => () => answerOn(context, definition, instruction, group);
  const ofChoices = choices.map(({ operation, answered, strict }): Run => ({
    operation,
    answered: run(answered),
    strict: strict === answered ? undefined : run(strict),
  }));
  const runs = [...ofChoices, ...others];
  const found = findProblems(runs, subject);
  // Until then it can be accepted or executed.
  if (fields.deadline === undefined || fields.deadline > context.now * 1_000) return found;
  const message = `the deadline of the ${choices[0]?.answered.label ?? "instruction"} has passed`;
  const operations = runs.map(({ operation }) => operation).filter((operation) => !isExit(operation));
  return [
    warningOf({ code: "instruction-expired", message }, { ...subject, operations }),
    // The ledger refuses it, whatever else it lacks.
    ...found.filter(({ refusal }) => refusal !== undefined),
  ];
}

/** Runs the factory operations of each registrar and instrument, and the choices on pending instructions. */
export function tableChecks(
  table: CompiledTable,
  instrumentsOf: (context: CheckContext, registrar: string) => readonly string[],
): readonly Check<TableFields>[] {
  const choices = checkedChoices(table);
  const templates = new Set(choices.flatMap(({ answered }) => answered.templates));
  return [
    ...factoryTemplates(table).map((template): Check<TableFields> => ({
      template,
      warnings: (context, factories) =>
        factories.flatMap((factory) => checkRegistrar(context, table, template, factory, instrumentsOf)),
    })),
    ...Array.from(templates, (template): Check<TableFields> => {
      const mine = choices.filter(({ answered }) => answered.templates.includes(template));
      return {
        template,
        warnings: (context, contracts) =>
          contracts.flatMap((one) => checkInstruction(context, one, mine, groupOf(one.fields.registrar ?? ""))),
      };
    }),
  ];
}

/** The entries that every request about an instrument has, whoever asks: missing where no factory has them beside it. */
function checkRegistrar(
  context: CheckContext,
  table: CompiledTable,
  template: TableTemplate,
  { contractId, fields: { registrar = "" } }: Contract<TableFields>,
  instrumentsOf: (context: CheckContext, registrar: string) => readonly string[],
): readonly Warning[] {
  const all = allOf(template, context.view, registrar);
  // Once for each registrar and template.
  if (all[0]?.contractId !== contractId) return [];
  const needed = () => neededContract(`the factory of registrar ${registrar}`, { registrar });
  const operations = FACTORIES.filter((operation) => table.factories.get(operation)?.template === template);
  const definitions = operations.map((operation) => [operation, commonLines(table, operation)] as const);
  const listed = instrumentsOf(context, registrar);
  const runsOf = (instruments: readonly string[]) =>
    definitions.map(([operation, definition]): Run => ({
      operation,
      answered: () =>
        onOneSynchronizer(all, needed, undefined, (_factory, synchronizer) =>
          writeContext(context, definition, groupOf(registrar), synchronizer, { instruments, roles: {} }),
        ),
    }));
  if (listed.length === 0) return findProblems(runsOf([]), { registrar });
  return listed.flatMap((instrument) => findProblems(runsOf([instrument]), { registrar, instrument }));
}

/** The lines whose entries are found by registrar and instrument alone, and that are written without a condition. */
function commonLines({ table: { rows, entries }, parts }: CompiledTable, operation: Factory): ContextDefinition {
  const isCommon = ({ kind, name, if: only, unless }: TableLine) => {
    const entry = entries[name];
    if (entry === undefined || only.length + unless.length > 0 || kind === "exists" || kind === "archived")
      return false;
    const terms = Object.values(entry.find ?? {});
    return entry.byId === undefined && terms.every((term) => term === "registrar" || term === "instrument");
  };
  const name: TableOperation = operation === "transfer-factory" ? "transfer-factory/offer" : operation;
  return { lines: compileRow({ lines: (rows[name]?.lines ?? []).filter(isCommon) }, parts) };
}
