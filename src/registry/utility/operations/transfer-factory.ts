import type { FactoryQuery, RequestContext, TransferFactoryAnswer, TransferKind } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { prefetchInputs } from "../entries/context-definition.js";
import { instrumentConfigurationLookup } from "../selection/contract-selector.js";
import { holderOf } from "../selection/requirements.js";
import { indexKeys } from "../templates/index-keys.js";
import { transferPreapproval } from "../templates/parties.js";
import { transferRule } from "../templates/services.js";
import { transferArguments } from "./arguments.js";
import { answerWithFactory } from "./factory.js";
import { coveringPreapprovals, explainPreapprovals, neededPreapproval, reachablePreapprovals } from "./preapprovals.js";
import { factoriesLookup, findFactories, neededFactory } from "./require.js";

const operations = {
  offer: "transfer-factory/offer",
  direct: "transfer-factory/direct",
  self: "transfer-factory/self",
} as const satisfies Readonly<Record<TransferKind, string>>;

/** The receiver's preapproval if one counts, else the AllocationFactory. Ignores the input holdings. */
export function transferFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
): TransferFactoryAnswer {
  const { view, recorder } = context;
  const { registrar } = query;
  const transfer = transferArguments(query);
  const { sender, receiver, instrumentId } = transfer;
  const preapprovalKey = indexKeys.preapproval(receiver.party, registrar);
  if (view.wantsPrefetch)
    view.prefetch(() => [factoriesLookup(registrar), { template: transferPreapproval, indexKey: preapprovalKey }]);
  const allocationFactories = findFactories(view, registrar);
  const inputs = { instruments: [instrumentId], sender: holderOf(sender), receiver: holderOf(receiver) };
  const isSelf = sender.party === receiver.party;
  const candidates =
    isSelf || allocationFactories.length === 0 ? undefined : view.byKey(transferPreapproval, preapprovalKey);
  const covering = candidates === undefined ? [] : coveringPreapprovals(candidates, transfer, allocationFactories);
  if (covering.length > 0 && view.wantsPrefetch) {
    const { [operations.direct]: direct, [operations.offer]: offer } = contexts.factories;
    prefetchInputs(view, [direct, offer], { ...inputs, registrar }, [
      instrumentConfigurationLookup(registrar, instrumentId),
      { template: transferRule, indexKey: indexKeys.transferRule(registrar) },
    ]);
  }
  const preapprovals = covering.length > 0 ? reachablePreapprovals(view, registrar, transfer, covering) : covering;
  const considered =
    recorder === undefined || candidates === undefined
      ? undefined
      : explainPreapprovals(recorder, registrar, transfer, allocationFactories, candidates, preapprovals);

  const transferKind = isSelf ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const isDirect = transferKind === "direct";
  const request = {
    registrar,
    definition: contexts.factories[operations[transferKind]],
    factories: isDirect ? preapprovals : allocationFactories,
    inputs,
    considered: isDirect ? considered : undefined,
    needed: isDirect ? () => neededPreapproval(receiver.party, registrar) : () => neededFactory(registrar),
  };
  const { factoryId, values, disclosed } = answerWithFactory(context, request);
  return { factoryId, transferKind, instrumentId, values, disclosed };
}
