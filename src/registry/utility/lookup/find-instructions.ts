import type { Cause } from "../../../domain/cause.js";
import type { Contract } from "../../../domain/contract.js";
import { causesOf, RegistryError } from "../../../domain/errors.js";
import type { Template } from "../../../domain/template.js";
import type { PartySearch, RequestContext } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import type { ChoiceOperation } from "../contexts/operations.js";
import type { LinesByOperation, OperationLines } from "../inventory/operation-lines.js";
import { contextOn, instructionInputs } from "../operations/choice-context.js";
import { requireSynchronizer } from "../selection/candidates.js";
import { groupOfInstruction } from "../selection/group.js";
import { type Instruction, instrumentsOf } from "../templates/instructions.js";
import { choiceCall, completionOn } from "./choices.js";

/** Instructions of which a party is sender, receiver or holder: a search for each template. */
export function findInstructions(
  contexts: UtilityContexts,
  lines: LinesByOperation,
): readonly PartySearch<Instruction>[] {
  const templates = new Set(Object.values(contexts.choices).flatMap((definition) => definition.templates));
  return [...templates].map((template) => findOfTemplate(template, contexts, lines));
}

function findOfTemplate(
  template: Template<Instruction>,
  contexts: UtilityContexts,
  { choices }: LinesByOperation,
): PartySearch<Instruction> {
  const operation = completionOn(contexts, template);
  const completion = operation === undefined ? undefined : choices.get(operation);
  const label = operation === undefined ? "instruction" : contexts.choices[operation].label;
  return {
    template,
    find(context, contracts, party) {
      const concerned = contracts.filter(({ fields }) => concerns(fields, party));
      const instructions = concerned.map((contract) => {
        const { admin: registrar, sender, receiver } = contract.fields;
        const causes = completion === undefined ? [] : lacking(context, label, completion, contract);
        const call = operation === undefined ? undefined : choiceCall(operation, contract);
        const instruments = instrumentsOf(contract.fields);
        return { contract, registrar, instruments, sender, receiver, causes, completion: call };
      });
      return { instructions };
    },
  };
}

const concerns = ({ sender, receiver, issuers }: Instruction, party: string): boolean =>
  sender === party || receiver === party || issuers?.includes(party) === true;

/** Runs the operation with every credential required, as the choice on the ledger requires them. */
function lacking(
  context: RequestContext,
  label: string,
  { strict }: OperationLines<ChoiceOperation>,
  instruction: Contract<Instruction>,
): readonly Cause[] {
  const { admin } = instruction.fields;
  try {
    const needed = { name: `the ${label}`, kind: "instruction", registrar: admin };
    const synchronizer = requireSynchronizer(instruction, needed);
    contextOn(context, strict, groupOfInstruction(instruction.fields), synchronizer, instructionInputs(instruction));
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return causesOf(error);
    throw error;
  }
}
