import type { ChoiceQuery, ContextAnswer, RequestContext } from "../../registry.js";
import { ChoiceContextBuilder } from "../context/draft.js";
import { prefetchPlan, writeEntries } from "../context/entries.js";
import { requireSynchronizer } from "../evidence/candidates.js";
import { ContractSelector } from "../evidence/site.js";
import { prefetch } from "../evidence/wanted.js";
import type { ChoiceRule } from "./choice-rules.js";
import { requireInstruction } from "./found.js";

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
