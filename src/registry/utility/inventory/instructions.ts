/** Pending instructions on which a choice fails. */
import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { Check, Warning } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { type ChoiceOperation, isExit } from "../contexts/definition.js";
import type { EntryInputs } from "../context.js";
import { contextOn, findFactories, instructionInputs } from "../choice.js";
import { inReassignment } from "../../needed.js";
import { candidateConfigurations, groupOf, groupOfInstruction } from "../group.js";
import type { Instruction } from "../instructions.js";
import {
  attemptWithFactories,
  checkFactories,
  factoriesOf,
  findFactoryProblem,
  type LinesByOperation,
  type OperationLines,
  usableFor,
} from "./operations.js";
import {
  findProblems,
  type Problem,
  recording,
  type RecordingContext,
  remedies,
  type Subject,
  toWarning,
} from "./problems.js";

const SETTLEMENT = "settlement-factory";

/** What can be done with the instructions of one template. */
interface InstructionKind {
  readonly label: string;
  readonly choices: readonly OperationLines<ChoiceOperation>[];
  readonly isAllocation: boolean;
}

/** A check for each template of instructions. */
export function checkInstructions(contexts: UtilityContexts, lines: LinesByOperation): readonly Check[] {
  const definitions = Object.values(contexts.choices);
  const templates = new Set(definitions.flatMap((definition) => definition.templates));
  return [...templates].map((template) => checkTemplate(template, kindOf(template, contexts, lines), lines));
}

function kindOf(
  template: Template<Instruction>,
  { choices, allocationTemplates }: UtilityContexts,
  lines: LinesByOperation,
): InstructionKind {
  const ofTemplate = [...lines.choices.values()].filter(({ operation }) =>
    choices[operation].templates.includes(template),
  );
  const [first] = ofTemplate;
  return {
    label: first === undefined ? "instruction" : choices[first.operation].label,
    choices: ofTemplate,
    isAllocation: allocationTemplates.includes(template),
  };
}

const checkTemplate = (
  template: Template<Instruction>,
  kind: InstructionKind,
  lines: LinesByOperation,
): Check<Instruction> => ({
  template,
  warnings(context, instructions) {
    const checked = recording(context);
    return instructions.flatMap((instruction) => [
      ...checkUnknownInstrument(checked, lines, instruction.fields),
      ...checkChoices(checked, kind, lines, instruction),
    ]);
  },
});

/** The check of instruments does not know an instrument without a configuration. */
function checkUnknownInstrument(
  context: RecordingContext,
  lines: LinesByOperation,
  fields: Instruction,
): readonly Warning[] {
  const { view } = context;
  const { admin: registrar, instrumentId: instrument } = fields;
  if (candidateConfigurations(view, registrar, instrument).length > 0) return [];
  // A request for it is answered by the group of the newest factory.
  const [newest] = findFactories(view, registrar);
  const group = newest === undefined ? groupOfInstruction(fields) : groupOf(newest);
  return checkFactories(context, lines, group, instrument);
}

function checkChoices(
  context: RecordingContext,
  { label, choices, isAllocation }: InstructionKind,
  lines: LinesByOperation,
  instruction: Contract<Instruction>,
): readonly Warning[] {
  const { contractId, synchronizerId, fields } = instruction;
  const { admin: registrar, instrumentId: instrument, deadline } = fields;
  const subject = { registrar, instrument, instruction: { contractId, label } };
  const operations = choices.map(({ operation }) => operation);
  const about = { registrar, instrument, contractId };
  if (synchronizerId === undefined) {
    return [
      {
        ...about,
        kind: "instruction-in-reassignment",
        operations: isAllocation ? [...operations, SETTLEMENT] : operations,
        refusal: "conflict",
        problem: inReassignment(instruction, { name: `the ${label}`, kind: "instruction" }).message,
        remedy: remedies["instruction-in-reassignment"],
      },
    ];
  }
  const hasEnded = deadline !== undefined && deadline <= context.now * 1_000;
  const completions = operations.filter((operation) => !isExit(operation));
  const expired: Warning = {
    ...about,
    kind: "instruction-expired",
    operations: isAllocation ? [...completions, SETTLEMENT] : completions,
    problem: `${label} ${contractId}: its deadline, ${deadline === undefined ? "" : timeText(deadline)}, has passed`,
    remedy: remedies["instruction-expired"],
  };
  // The ledger refuses an expired one, whatever else it lacks.
  const matters = ({ refusal }: Problem) => !hasEnded || refusal !== undefined;
  const inputs = instructionInputs(instruction);
  const group = groupOfInstruction(fields);
  const warnings = choices.flatMap((choice) =>
    findProblems(choice, context.view, inputs, (definition, given) => {
      contextOn(context, definition, group, synchronizerId, given);
    })
      .filter(matters)
      .map((problem) => toWarning(problem, subject, inputs, choice.operation)),
  );
  const settlement = isAllocation ? checkSettlement(context, lines, instruction, subject, matters) : [];
  return [...(hasEnded ? [expired] : []), ...warnings, ...settlement];
}

const timeText = (micros: number): string => new Date(Math.floor(micros / 1_000)).toISOString();

/** Whether an allocation can be settled by the settlement factory, in a batch of its own leg. */
function checkSettlement(
  context: RecordingContext,
  { factories: operations, packageVersions }: LinesByOperation,
  allocation: Contract<Instruction>,
  subject: Subject,
  matters: (problem: Problem) => boolean,
): readonly Warning[] {
  const { view } = context;
  const { admin, instrumentId } = allocation.fields;
  const named = groupOfInstruction(allocation.fields);
  const [newest] = candidateConfigurations(view, admin, instrumentId);
  const isNamed = named.operator !== undefined && named.provider !== undefined;
  const group = isNamed || newest === undefined ? named : groupOf(newest);
  const lines = operations.get(SETTLEMENT);
  const factories = usableFor(SETTLEMENT, factoriesOf(view, group), packageVersions);
  // The warning about the instrument names all operations that need a factory.
  if (lines === undefined || findFactoryProblem(view, group, factories) !== undefined) return [];
  const attempt = attemptWithFactories(context, group, factories);
  return settlementInputs(allocation).flatMap((inputs) =>
    findProblems(lines, view, inputs, attempt)
      .filter(matters)
      .map((problem) => toWarning(problem, subject, inputs, SETTLEMENT)),
  );
}

/** Inputs for each holder apart, so that a warning is about one party. */
function settlementInputs(allocation: Contract<Instruction>): readonly EntryInputs[] {
  const { instrumentId, sender, receiver } = allocation.fields;
  const instruments = [instrumentId];
  const parties = new Set([sender, receiver].filter((party) => party !== undefined));
  const holders = [...parties].map((party) => [{ party, instruments }]);
  return (holders.length === 0 ? [[]] : holders).map((ofOne) => ({
    instruments,
    holders: ofOne,
    allocations: [allocation],
  }));
}
