import type { Contract } from "../../../store/store.js";
import type { FactoryQuestion, Scene, TransferFactoryAnswer, TransferKind } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { acceptTransfer, type Entry, wantedFor, writeEntries } from "../context/entries.js";
import { onOneSynchronizer } from "../evidence/candidates.js";
import { Site } from "../evidence/site.js";
import { foresee } from "../evidence/wanted.js";
import { keys } from "../kinds/keys.js";
import { transferPreapproval } from "../kinds/parties.js";
import { transferArguments } from "./arguments.js";
import { askFactories, factoriesOf } from "./found.js";

/** The entries of each kind of transfer: one that happens at once needs what an acceptance needs. */
const entriesOf: Record<TransferKind, readonly Entry[]> = {
  offer: ["instrument-configuration", "sender-credentials"],
  direct: acceptTransfer,
  self: acceptTransfer,
};

/**
 * The factory of a transfer: the receiver's preapproval where one covers the
 * instrument, else the registrar's AllocationFactory. The holdings that the
 * arguments name are not looked at, so a client can ask before it has chosen
 * them.
 */
export function transferFactory({ view, now }: Scene, question: FactoryQuestion): TransferFactoryAnswer {
  const { registrar } = question;
  const { sender, receiver, instrumentId } = transferArguments(question);
  const preapprovalKey = keys.preapproval(receiver, registrar);
  if (view.fetches) view.foresee(() => [askFactories(registrar), { kind: transferPreapproval, key: preapprovalKey }]);
  const factories = factoriesOf(view, registrar);
  const preapprovals = view
    .byKey(transferPreapproval, preapprovalKey)
    .filter(
      ({ facts }) => facts.instrumentAllowances.length === 0 || facts.instrumentAllowances.includes(instrumentId),
    );

  const transferKind = sender === receiver ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const entries = entriesOf[transferKind];
  const instruments = [instrumentId];
  if (view.fetches) {
    foresee(view, {
      ...wantedFor(entries, registrar, { instruments, sender, receiver }),
      providers: transferKind === "direct" ? [] : factories.map(({ facts }) => facts.provider),
    });
  }
  const answerWith = (home: Contract, synchronizer: string, provider: string | undefined): TransferFactoryAnswer => {
    const draft = new Draft(true);
    const site = new Site({ view, registrar, synchronizer, now, lenient: false });
    writeEntries(entries, draft, site, { instruments, provider, sender, receiver });
    const { factoryId, values, disclosed } = draft.finishFor(home);
    return { factoryId, transferKind, values, disclosed };
  };
  return transferKind === "direct"
    ? onOneSynchronizer(
        preapprovals,
        () => `the TransferPreapproval of receiver ${receiver}`,
        (home, synchronizer) => answerWith(home, synchronizer, undefined),
      )
    : onOneSynchronizer(
        factories,
        () => `the AllocationFactory of registrar ${registrar}`,
        (home, synchronizer) => answerWith(home, synchronizer, home.facts.provider),
      );
}
