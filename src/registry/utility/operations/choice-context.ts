import type { ChoiceQuery, ContextAnswer, RequestContext } from "../../sdk/registry.js";
import type { ChoiceContextDefinition } from "../contexts/contexts.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { prefetchContext, writeContext } from "../entries/context-definition.js";
import { requireSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { instrumentsOf } from "../templates/instructions.js";
import { findInstruction, requireInstruction } from "./require.js";

/** The context of a choice on one instruction. */
export function choiceContext(
  { view, now }: RequestContext,
  definition: ChoiceContextDefinition,
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  const { label, templates, refusesBlocklist } = definition;
  if (view.wantsPrefetch && templates.length > 1)
    view.prefetch(() => templates.map((template) => ({ template, contractId })));
  const found = findInstruction(view, templates, contractId);
  const instruction = requireInstruction(view, registrar, label, contractId, found);
  const { admin, lockedHolding, otherLockedHoldings, provider, sender, receiver, issuers } = instruction.fields;
  const inputs = {
    instruments: instrumentsOf(instruction.fields),
    provider,
    sender,
    receiver,
    issuers,
    lockedHolding,
    otherLockedHoldings,
    subject: instruction,
  };
  const synchronizer = requireSynchronizer(instruction, `the ${label}`);

  if (view.wantsPrefetch) prefetchContext(view, definition, { ...inputs, registrar: admin });
  const builder = new ChoiceContextBuilder();
  const selector = new ContractSelector({ view, registrar: admin, synchronizer, now, refusesBlocklist });
  writeContext(definition, builder, selector, inputs);
  return builder.build();
}
