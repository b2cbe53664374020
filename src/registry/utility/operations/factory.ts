import type { FactoryAnswer, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { type Entry, type Subject, wantedFor, writeEntries } from "../context/entries.js";
import { onOneSynchronizer } from "../evidence/candidates.js";
import { gather } from "../evidence/evidence.js";
import { Site } from "../evidence/site.js";
import { keys } from "../kinds/keys.js";
import { allocationFactory } from "../kinds/services.js";
import { notServed } from "./found.js";

/** The registrar's AllocationFactory with the entries for a subject: all that most factories need. */
export async function factoryWith(
  { view, now }: Scene,
  registrar: string,
  entries: readonly Entry[],
  subject: Subject,
): Promise<FactoryAnswer> {
  const [factories] = await view.read([{ kind: allocationFactory, key: keys.factory(registrar) }]);
  if (factories.length === 0) throw notServed(registrar);
  const evidence = await gather(view, {
    ...wantedFor(entries, registrar, subject),
    providers: factories.map(({ facts }) => facts.provider),
  });
  return onOneSynchronizer(factories, `the AllocationFactory of registrar ${registrar}`, (factory, synchronizer) => {
    const draft = new Draft(false);
    const site = new Site({ evidence, registrar, synchronizer, now, lenient: false });
    writeEntries(entries, draft, site, { ...subject, provider: factory.facts.provider });
    draft.disclose(factory);
    return { ...draft.finish(), factoryId: factory.contractId };
  });
}
