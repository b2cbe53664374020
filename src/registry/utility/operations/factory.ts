import type { FactoryAnswer, RequestContext } from "../../registry.js";
import { ChoiceContextBuilder } from "../context/draft.js";
import { type Entry, type EntryInputs, prefetchPlan, writeEntries } from "../context/entries.js";
import { onOneSynchronizer } from "../evidence/candidates.js";
import { ContractSelector } from "../evidence/site.js";
import { prefetch } from "../evidence/wanted.js";
import { requireFactories } from "./found.js";

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
