import type { ChoiceQuery, ContextAnswer, RequestContext } from "../../sdk/registry.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { prefetchPlan, writeEntries } from "../entries/entries.js";
import { requireSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { prefetch } from "../entries/prefetch-plan.js";
import type { ChoiceRule } from "../choice-contexts.js";
import { requireInstruction } from "./require.js";

/** The context of a choice on one instruction, with the instruction's locked holding disclosed. */
export function choiceContext(
  { view, now }: RequestContext,
  { label, template, entries, allowMissing, legacyAliases }: ChoiceRule,
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  const instruction = requireInstruction(registrar, label, contractId, view.byId(template, contractId));
  const { admin, instrumentId, lockedHolding, provider, sender, receiver, issuers } = instruction.fields;
  const subject = { instruments: [instrumentId], provider, sender, receiver, issuers };
  const synchronizer = requireSynchronizer(instruction, `the ${label}`);

  if (view.wantsPrefetch) {
    const lockedHoldings = lockedHolding === undefined ? [] : [lockedHolding];
    prefetch(view, { ...prefetchPlan(entries, admin, subject), lockedHoldings });
  }
  const builder = new ChoiceContextBuilder(legacyAliases);
  const selector = new ContractSelector({ view, registrar: admin, synchronizer, now, allowMissing });
  writeEntries(entries, builder, selector, subject);
  const held = lockedHolding === undefined ? undefined : selector.lockedHolding(lockedHolding);
  if (held !== undefined) builder.disclose(held);
  return builder.build();
}
