import type { FactoryAnswer, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { type Entry, type Subject, wantedFor, writeEntries } from "../context/entries.js";
import { onOneSynchronizer } from "../evidence/candidates.js";
import { Site } from "../evidence/site.js";
import { foresee } from "../evidence/wanted.js";
import { factoriesOf } from "./found.js";

/** The registrar's AllocationFactory with the entries for a subject: all that most factories need. */
export function factoryWith(
  { view, now }: Scene,
  registrar: string,
  entries: readonly Entry[],
  subject: Subject,
): FactoryAnswer {
  const factories = factoriesOf(view, registrar);
  if (view.fetches) {
    const providers = factories.map(({ facts }) => facts.provider);
    foresee(view, { ...wantedFor(entries, registrar, subject), providers });
  }
  const { instruments, sender, sent, receiver, issuers } = subject;
  const name = () => `the AllocationFactory of registrar ${registrar}`;
  return onOneSynchronizer(factories, name, (factory, synchronizer) => {
    const draft = new Draft(false);
    const site = new Site({ view, registrar, synchronizer, now, lenient: false });
    writeEntries(entries, draft, site, {
      instruments,
      provider: factory.facts.provider,
      sender,
      sent,
      receiver,
      issuers,
    });
    return draft.finishFor(factory);
  });
}
