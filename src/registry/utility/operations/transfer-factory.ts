import type { Contract } from "../../../domain/contract.js";
import type { FactoryQuery, RequestContext, TransferFactoryAnswer, TransferKind } from "../../sdk/registry.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { acceptTransfer, type Entry, prefetchPlan, writeEntries } from "../entries/entries.js";
import { onOneSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { prefetch } from "../entries/prefetch-plan.js";
import { indexKeys } from "../templates/index-keys.js";
import { transferPreapproval } from "../templates/parties.js";
import { transferArguments } from "./arguments.js";
import { factoriesLookup, requireFactories } from "./require.js";

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
export function transferFactory({ view, now }: RequestContext, query: FactoryQuery): TransferFactoryAnswer {
  const { registrar } = query;
  const { sender, receiver, instrumentId } = transferArguments(query);
  const preapprovalKey = indexKeys.preapproval(receiver, registrar);
  if (view.wantsPrefetch)
    view.prefetch(() => [factoriesLookup(registrar), { template: transferPreapproval, indexKey: preapprovalKey }]);
  const factories = requireFactories(view, registrar);
  const preapprovals = view
    .byKey(transferPreapproval, preapprovalKey)
    .filter(
      ({ fields }) => fields.instrumentAllowances.length === 0 || fields.instrumentAllowances.includes(instrumentId),
    );

  const transferKind = sender === receiver ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const entries = entriesOf[transferKind];
  const instruments = [instrumentId];
  if (view.wantsPrefetch) {
    prefetch(view, {
      ...prefetchPlan(entries, registrar, { instruments, sender, receiver }),
      providers: transferKind === "direct" ? [] : factories.map(({ fields }) => fields.provider),
    });
  }
  const answerWith = (home: Contract, synchronizer: string, provider: string | undefined): TransferFactoryAnswer => {
    const builder = new ChoiceContextBuilder(true);
    const selector = new ContractSelector({ view, registrar, synchronizer, now, allowMissing: false });
    writeEntries(entries, builder, selector, { instruments, provider, sender, receiver });
    const { factoryId, values, disclosed } = builder.buildForFactory(home);
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
        (home, synchronizer) => answerWith(home, synchronizer, home.fields.provider),
      );
}
