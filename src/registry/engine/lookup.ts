/** What operators learn of a registry file: its registrars, a party's instructions, the choices on a contract, and what will fail. */
import type { Contract } from "../../domain/contract.js";
import { causesOf, errorIn } from "../../domain/errors.js";
import { isOf, type Template } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import { findProblems, type Run } from "../check/runs.js";
import { neededContract, onOneSynchronizer } from "../needed.js";
import { FACTORIES, type Factory, isExit, type TableOperation } from "../operation-names.js";
import type {
  Choice,
  ChoiceCall,
  IssuanceChoice,
  PartySearch,
  RegistryLookup,
  ServedRegistrar,
} from "../sdk/registry.js";
import { type Check, type CheckContext, type Warning, warningOf } from "../sdk/warnings.js";
import { type ContextDefinition, strictly, writeContext } from "./choice-context.js";
import { allOf } from "./entries.js";
import { answerOn, type ChoiceDefinition, type GroupOf } from "./operations.js";
import type { Group } from "./selector.js";
import type { TableLine } from "./table-types.js";
import { allFactories, type CompiledTable, compileRow, factoryTemplates, groupOf } from "./table.js";
import { roleOf, type TableFields, type TableTemplate } from "./templates.js";

/** The choices on a contract; none if it is of no template of instructions. */
export const choicesOn = (choices: readonly ChoiceDefinition[], contract: Contract): readonly ChoiceCall[] =>
  choices
    .filter(({ templates }) => templates.some((template) => isOf(contract.template, template)))
    // Only instructions have these templates.
    .map(({ operation }) => callOn(operation, contract as Contract<TableFields>));

const callOn = (choice: Choice | IssuanceChoice, { contractId, fields }: Contract<TableFields>): ChoiceCall => ({
  choice,
  query: { registrar: fields.registrar, contractId },
});

/** Instructions in which a party has a role: a search for each template. The first choice on them completes them. */
export function instructionSearches(
  choices: readonly ChoiceDefinition[],
  groupOfInstruction: GroupOf,
): readonly PartySearch<TableFields>[] {
  return distinctTemplates(choices).map((template) => {
    const completion = choices.find(({ templates }) => templates.includes(template));
    return {
      template,
      find: (context, contracts, party) => ({
        instructions: contracts
          .filter(({ fields }) => concerns(fields, party))
          .map((contract) => {
            const { registrar = "", instruments, roles } = contract.fields;
            const error =
              completion &&
              errorIn(() => answerOn(context, strictly(completion), contract, groupOfInstruction(contract)));
            return {
              contract,
              registrar,
              instruments: [...new Set(instruments)],
              sender: roleOf({ roles }, "sender"),
              receiver: roleOf({ roles }, "receiver"),
              causes: error === undefined ? [] : causesOf(error),
              completion: completion && callOn(completion.operation, contract),
            };
          }),
      }),
    };
  });
}

export const distinctTemplates = (choices: readonly ChoiceDefinition[]): readonly Template<TableFields>[] => [
  ...new Set(choices.flatMap(({ templates }) => templates)),
];

/** The parties of the registry have a part in every instruction. */
const concerns = ({ roles }: TableFields, party: string): boolean =>
  Object.entries(roles).some(
    ([role, parties]) => role !== "operator" && role !== "provider" && parties.includes(party),
  );

/** `AllocationFactory` of `Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`. */
export const entityOf = ({ template: { qualifiedName } }: Contract): string =>
  qualifiedName.split(":")[1] ?? qualifiedName;

/** `idsOf` are the instruments of a registrar that are not listed by contracts. */
export function tableLookup(
  table: CompiledTable,
  idsOf: (view: View, registrar: string) => readonly string[],
): RegistryLookup {
  const choices = [...table.choices.values()];
  return {
    registrars: (view) => registrars(table, view, idsOf),
    partySearches: instructionSearches(choices, ({ fields }) => groupOf(fields.registrar ?? "")),
    choices: (contract) => choicesOn(choices, contract),
    packageVersion: () => undefined,
  };
}

function registrars(
  table: CompiledTable,
  view: View,
  idsOf: (view: View, registrar: string) => readonly string[],
): ServedRegistrar[] {
  const { instruments: listed } = table.table.file;
  const listing =
    typeof listed === "object" && !Array.isArray(listed) ? table.templates.get(listed.template) : undefined;
  const factories = allFactories(table, view);
  const lists = listing === undefined ? [] : view.all(listing);
  const parties = [...new Set(factories.flatMap(({ fields }) => fields.registrar ?? []))].toSorted();
  return parties.map((party): ServedRegistrar => {
    const mine = factories.filter(({ fields }) => fields.registrar === party);
    const [factory] = mine;
    const byId = new Map<string, Contract>(factory && idsOf(view, party).map((id) => [id, factory] as const));
    // Newest first: the newest of several stays.
    for (const contract of lists.toReversed())
      if (contract.fields.registrar === party)
        for (const { id } of contract.fields.listed ?? []) byId.set(id, contract);
    return {
      party,
      instruments: [...byId]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, configuration]) => ({ id, configuration })),
      services: mine.map((contract) => ({ name: entityOf(contract), contract })),
    };
  });
}

/** Why operations on a pending instruction fail: its choices, and `others`. */
export function checkInstruction(
  context: CheckContext,
  instruction: Contract<TableFields>,
  choices: readonly ChoiceDefinition[],
  group: Group,
  others: readonly Run[] = [],
): readonly Warning[] {
  const { contractId, fields } = instruction;
  const subject = { registrar: group.registrar, instrument: fields.instruments[0], contractId };
  const run = (definition: ChoiceDefinition) => () => answerOn(context, definition, instruction, group);
  const ofChoices = choices.map((choice): Run => ({
    operation: choice.operation,
    answered: run(choice),
    strict: choice.strictLines && run(strictly(choice)),
  }));
  const runs = [...ofChoices, ...others];
  const found = findProblems(runs, subject);
  // Until then it can be accepted or executed.
  if (fields.deadline === undefined || fields.deadline > context.now * 1_000) return found;
  const message = `the deadline of the ${choices[0]?.label ?? "instruction"} has passed`;
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
  const choices = [...table.choices.values()];
  return [
    ...factoryTemplates(table).map((template): Check<TableFields> => ({
      template,
      warnings: (context, factories) =>
        factories.flatMap((factory) => checkRegistrar(context, table, template, factory, instrumentsOf)),
    })),
    ...distinctTemplates(choices).map((template): Check<TableFields> => {
      const mine = choices.filter(({ templates }) => templates.includes(template));
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
