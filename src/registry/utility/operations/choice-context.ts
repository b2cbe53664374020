import type { Contract } from "../../../domain/contract.js";
import type { ChoiceQuery, ContextAnswer, RequestContext } from "../../sdk/registry.js";
import type { ChoiceContextDefinition } from "../contexts/contexts.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { type ContextDefinition, prefetchContext, writeContext } from "../entries/context-definition.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { requireSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { type Instruction, instrumentsOf } from "../templates/instructions.js";
import { findInstruction, requireInstruction } from "./require.js";

/** The context of a choice on one instruction. */
export function choiceContext(
  context: RequestContext,
  definition: ChoiceContextDefinition,
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  const { view } = context;
  const { label, templates } = definition;
  if (view.wantsPrefetch && templates.length > 1)
    view.prefetch(() => templates.map((template) => ({ template, contractId })));
  const found = findInstruction(view, templates, contractId);
  const instruction = requireInstruction(view, registrar, label, contractId, found);
  const inputs = instructionInputs(instruction);
  const { admin } = instruction.fields;
  const synchronizer = requireSynchronizer(instruction, `the ${label}`);
  if (view.wantsPrefetch) prefetchContext(view, definition, { ...inputs, registrar: admin });
  return contextOn(context, definition, admin, synchronizer, inputs);
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
  registrar: string,
  synchronizer: string,
  inputs: EntryInputs,
): ContextAnswer {
  const { refusesBlocklist } = definition;
  const builder = new ChoiceContextBuilder();
  const selector = new ContractSelector(context, registrar, synchronizer);
  writeContext(definition, builder, selector, inputs);
  if (refusesBlocklist) selector.rejectBlocklist();
  return builder.build();
}
