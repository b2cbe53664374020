import type { Contract } from "../../../../domain/contract.js";
import type { Template } from "../../../../domain/template.js";
import type { View } from "../../../../store/port.js";
import type { Check, Warning } from "../../../sdk/registry.js";
import type { UtilityContexts } from "../../contexts/contexts.js";
import type { ChoiceOperation } from "../../contexts/operations.js";
import { contextOn, instructionInputs } from "../../operations/choice-context.js";
import { factoriesLookup } from "../../operations/require.js";
import { candidateConfigurations, groupOfInstruction, ofGroup } from "../../selection/group.js";
import type { Instruction } from "../../templates/instructions.js";
import { checkFactories } from "./factories.js";
import { checkSettlement, prefetchSettlement } from "./settlement.js";
import { findProblems } from "../find-problems.js";
import { inReassignment } from "../instruction-in-reassignment.js";
import type { LinesByOperation, OperationLines } from "../operation-lines.js";
import { prefetchOperation } from "../prefetch.js";
import { toWarning } from "../to-warning.js";
import { prefetchAll, recording, type RecordingContext } from "../views.js";

/** What can be done with the instructions of one template. */
interface InstructionKind {
  readonly label: string;
  readonly choices: readonly OperationLines<ChoiceOperation>[];
  readonly isAllocation: boolean;
}

/** Pending instructions on which a choice fails: a check for each template of instructions. */
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

function checkTemplate(
  template: Template<Instruction>,
  kind: InstructionKind,
  lines: LinesByOperation,
): Check<Instruction> {
  return {
    template,
    warnings(context, instructions) {
      prefetch(context.view, kind, lines, instructions);
      const checked = recording(context);
      return instructions.flatMap((instruction) => ofInstruction(checked, kind, lines, instruction));
    },
  };
}

function ofInstruction(
  context: RecordingContext,
  { label, choices, isAllocation }: InstructionKind,
  lines: LinesByOperation,
  instruction: Contract<Instruction>,
): Warning[] {
  const { contractId, synchronizerId } = instruction;
  const { admin: registrar, instrumentId: instrument } = instruction.fields;
  const subject = { registrar, instrument, instruction: { contractId, label } };
  // The check of instruments does not know an instrument without a configuration.
  const group = groupOfInstruction(instruction.fields);
  const isKnown = ofGroup(candidateConfigurations(context.view, registrar, instrument), group).length > 0;
  const ofInstrument = isKnown ? [] : checkFactories(context, lines, group, instrument);
  if (synchronizerId === undefined) {
    const operations = choices.map(({ operation }) => operation);
    const failing = isAllocation ? [...operations, "settlement-factory" as const] : operations;
    return [...ofInstrument, inReassignment(instruction, label, failing)];
  }
  const inputs = instructionInputs(instruction);
  const warnings = choices.flatMap((choice) =>
    findProblems(choice, context.view, inputs, (definition, given) => {
      contextOn(context, definition, group, synchronizerId, given);
    }).map((problem) => toWarning(problem, subject, inputs, choice.operation)),
  );
  const settlement = isAllocation ? checkSettlement(context, lines, instruction, subject) : [];
  return [...ofInstrument, ...warnings, ...settlement];
}

function prefetch(
  view: View,
  { choices, isAllocation }: InstructionKind,
  lines: LinesByOperation,
  instructions: readonly Contract<Instruction>[],
): void {
  if (!view.wantsPrefetch) return;
  view.prefetch(() => instructions.map(({ fields }) => factoriesLookup(fields.admin)));
  for (const phase of ["inputs", "configurations"] as const)
    prefetchAll(view, instructions, (collecting, instruction) => {
      const inputs = { ...instructionInputs(instruction), registrar: instruction.fields.admin };
      for (const choice of choices) prefetchOperation(collecting, choice, inputs, phase);
      if (isAllocation) prefetchSettlement(collecting, lines, instruction, phase);
    });
}
