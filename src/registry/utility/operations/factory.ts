import type { FactoryAnswer, RequestContext } from "../../sdk/registry.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { type Entry, type EntryInputs, prefetchPlan, writeEntries } from "../entries/entries.js";
import { onOneSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { prefetch } from "../entries/prefetch-plan.js";
import { requireFactories } from "./require.js";

/** The registrar's AllocationFactory with the entries for a subject: all that most factories need. */
export function factoryWith(
  { view, now }: RequestContext,
  registrar: string,
  entries: readonly Entry[],
  inputs: EntryInputs,
): FactoryAnswer {
  const factories = requireFactories(view, registrar);
  if (view.wantsPrefetch) {
    const providers = factories.map(({ fields }) => fields.provider);
    prefetch(view, { ...prefetchPlan(entries, registrar, inputs), providers });
  }
  const { instruments, sender, sent, receiver, issuers } = inputs;
  const name = () => `the AllocationFactory of registrar ${registrar}`;
  return onOneSynchronizer(factories, name, (factory, synchronizer) => {
    const builder = new ChoiceContextBuilder(false);
    const selector = new ContractSelector({ view, registrar, synchronizer, now, allowMissing: false });
    writeEntries(entries, builder, selector, {
      instruments,
      provider: factory.fields.provider,
      sender,
      sent,
      receiver,
      issuers,
    });
    return builder.buildForFactory(factory);
  });
}
