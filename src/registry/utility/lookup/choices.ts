import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { ChoiceCall } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { type ChoiceOperation, isExit } from "../contexts/operations.js";
import type { Instruction } from "../templates/instructions.js";

/** The operations on the instructions of a template; none for another template. */
export const operationsOn = ({ choices }: UtilityContexts, template: Template): readonly ChoiceOperation[] =>
  // The record has exactly the names of its type.
  (Object.keys(choices) as ChoiceOperation[]).filter((name) =>
    choices[name].templates.some((known) => known === template),
  );

/** The operation whose choice completes the instructions of a template, as accept does. */
export const completionOn = (contexts: UtilityContexts, template: Template): ChoiceOperation | undefined =>
  operationsOn(contexts, template).find((operation) => !isExit(operation));

export function choicesOn(contexts: UtilityContexts, contract: Contract): readonly ChoiceCall[] {
  // Only templates of instructions have operations.
  return operationsOn(contexts, contract.template).map((choice) =>
    choiceCall(choice, contract as Contract<Instruction>),
  );
}

export const choiceCall = (choice: ChoiceOperation, { contractId, fields }: Contract<Instruction>): ChoiceCall => ({
  choice,
  query: { registrar: fields.admin, contractId },
});
