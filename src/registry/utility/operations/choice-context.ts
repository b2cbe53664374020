import type { Contract } from "../../../domain/contract.js";
import { attemptAll } from "../../../domain/errors.js";
import type { ChoiceQuery, ContextAnswer, RequestContext } from "../../sdk/registry.js";
import type { ChoiceContextDefinition } from "../contexts/contexts.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { type ContextDefinition, writeContext } from "../entries/context-definition.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { notOnSynchronizer, requireSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { type Group, groupOfInstruction } from "../selection/group.js";
import type { Needed } from "../selection/needed.js";
import { type Instruction, instrumentsOf } from "../templates/instructions.js";
import { explainingFailure } from "./record-changes.js";
import { findInstruction, requireInstruction } from "./require.js";

/** The context of a choice on one instruction, whose operator and provider are those of everything else in it. */
export function choiceContext(
  context: RequestContext,
  definition: ChoiceContextDefinition,
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  const { label, templates } = definition;
  const found = findInstruction(context.view, templates, contractId);
  const instruction = requireInstruction(context, registrar, label, contractId, found);
  const inputs = instructionInputs(instruction);
  const group = groupOfInstruction(instruction.fields);
  const { admin } = instruction.fields;
  const needed = { name: `the ${label}`, kind: "instruction", registrar: admin };
  const answer = () => {
    const synchronizer = requireSynchronizer(instruction, needed);
    context.recorder?.attempt(needed, [instruction], instruction);
    return contextOn(context, definition, group, synchronizer, inputs);
  };
  if (context.recorder === undefined) return answer();
  return explainingFailure(context, { ...inputs, registrar: admin }, answer, (plain, synchronizer) => {
    attemptAll([
      () => requireOn(instruction, synchronizer, needed),
      () => void contextOn(plain, definition, group, synchronizer, inputs),
    ]);
  });
}

function requireOn(contract: Contract, synchronizer: string, needed: Needed): void {
  if (contract.synchronizerId !== synchronizer) throw notOnSynchronizer(contract, synchronizer, needed);
}

/** What the entries of a choice on the instruction are about. */
export function instructionInputs(instruction: Contract<Instruction>): EntryInputs {
  const { lockedHolding, otherLockedHoldings, provider, sender, receiver, issuers } = instruction.fields;
  return {
    instruments: instrumentsOf(instruction.fields),
    provider,
    sender,
    receiver,
    issuers,
    lockedHolding,
    otherLockedHoldings,
    subject: instruction,
  };
}

/** The context of a choice on a contract on this synchronizer. */
export function contextOn(
  context: RequestContext,
  definition: ContextDefinition,
  group: Group,
  synchronizer: string,
  inputs: EntryInputs,
): ContextAnswer {
  const { refusesBlocklist } = definition;
  const builder = new ChoiceContextBuilder(context.recorder);
  const selector = new ContractSelector(context, group, synchronizer, definition);
  writeContext(definition, builder, selector, inputs);
  if (refusesBlocklist) selector.rejectBlocklist();
  return builder.build();
}
