import type { FactoryQuery, RequestContext, TransferFactoryAnswer, TransferKind } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { holderOf } from "../selection/credentials.js";
import { indexKeys } from "../templates/index-keys.js";
import { transferPreapproval } from "../templates/parties.js";
import { transferArguments } from "./arguments.js";
import { answerWithFactory, findGroupFactories, onFirst, version2Of } from "./factory.js";
import { coveringPreapprovals, explainPreapprovals, neededPreapproval } from "./preapprovals.js";

const operations = {
  offer: "transfer-factory/offer",
  direct: "transfer-factory/direct",
  self: "transfer-factory/self",
} as const satisfies Readonly<Record<TransferKind, string>>;

/**
 * The factory of `TransferFactory_Transfer`: the receiver's preapproval if the transfer can be direct, else the
 * AllocationFactory. The input holdings matter only if several providers have the instrument.
 */
export function transferFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
): TransferFactoryAnswer {
  const { view, recorder } = context;
  const { registrar } = query;
  const { sender, receiver, instrumentId, inputHoldings, targetSynchronizer } = transferArguments(query);
  const instruments = [instrumentId];
  const inputs = { instruments, sender: holderOf(sender), receiver: holderOf(receiver) };
  const isSelf = sender.party === receiver.party;
  const candidates = isSelf ? [] : view.byKey(transferPreapproval, indexKeys.preapproval(receiver.party, registrar));
  const version2 = version2Of(query, contexts.packageVersions);
  const ofGroup = findGroupFactories(context, {
    registrar,
    instruments,
    inputHoldings,
    needsNoConfiguration: isSelf,
    targetSynchronizer,
    version2,
  });
  const { group } = ofGroup;
  const preapprovals = coveringPreapprovals(view, group, instrumentId, candidates, version2);
  const asked = { receiver: receiver.party, instrumentId };
  const considered =
    recorder === undefined || isSelf
      ? undefined
      : explainPreapprovals(recorder, view, group, asked, candidates, version2);

  const transferKind = isSelf ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const { factoryId, values, disclosed } = answerWithFactory(context, {
    ...(transferKind === "direct"
      ? {
          group,
          factories: onFirst(preapprovals, targetSynchronizer),
          needed: () => neededPreapproval(receiver.party, registrar),
          considered,
        }
      : ofGroup),
    definition: contexts.factories[operations[transferKind]],
    inputs,
  });
  return { factoryId, transferKind, instrumentId, values, disclosed };
}
