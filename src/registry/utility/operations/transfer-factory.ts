import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { FactoryQuery, RequestContext, TransferFactoryAnswer, TransferKind } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { prefetchInputs } from "../entries/context-definition.js";
import { isInReassignment } from "../selection/candidates.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../selection/contract-selector.js";
import { holderOf } from "../selection/requirements.js";
import { indexKeys } from "../templates/index-keys.js";
import { type TransferPreapproval, transferPreapproval } from "../templates/parties.js";
import { type AllocationFactory, transferRule } from "../templates/services.js";
import { type TransferArguments, transferArguments } from "./arguments.js";
import { allocationFactoryName, answerWithFactory } from "./factory.js";
import { factoriesLookup, requireFactories } from "./require.js";

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
  const { view } = context;
  const { registrar } = query;
  const transfer = transferArguments(query);
  const { sender, receiver, instrumentId } = transfer;
  const preapprovalKey = indexKeys.preapproval(receiver.party, registrar);
  if (view.wantsPrefetch)
    view.prefetch(() => [factoriesLookup(registrar), { template: transferPreapproval, indexKey: preapprovalKey }]);
  const allocationFactories = requireFactories(view, registrar);
  const inputs = { instruments: [instrumentId], sender: holderOf(sender), receiver: holderOf(receiver) };
  const isSelf = sender.party === receiver.party;
  const covering = isSelf
    ? []
    : coveringPreapprovals(view.byKey(transferPreapproval, preapprovalKey), transfer, allocationFactories);
  if (covering.length > 0 && view.wantsPrefetch) {
    const { [operations.direct]: direct, [operations.offer]: offer } = contexts.factories;
    prefetchInputs(view, [direct, offer], { ...inputs, registrar }, [
      instrumentConfigurationLookup(registrar, instrumentId),
      { template: transferRule, indexKey: indexKeys.transferRule(registrar) },
    ]);
  }
  const preapprovals = covering.length > 0 ? reachablePreapprovals(view, registrar, instrumentId, covering) : covering;

  const transferKind = isSelf ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const isDirect = transferKind === "direct";
  const name = () =>
    isDirect ? `the TransferPreapproval of receiver ${receiver.party}` : allocationFactoryName(registrar);
  const request = {
    registrar,
    definition: contexts.factories[operations[transferKind]],
    factories: isDirect ? preapprovals : allocationFactories,
    inputs,
  };
  const { factoryId, values, disclosed } = answerWithFactory(context, request, name);
  return { factoryId, transferKind, instrumentId, values, disclosed };
}

/** The preapprovals for the instrument under the operator of the registrar's factory, except those in reassignment. */
function coveringPreapprovals(
  preapprovals: readonly Contract<TransferPreapproval>[],
  { instrumentId }: TransferArguments,
  [newestFactory]: readonly Contract<AllocationFactory>[],
): readonly Contract<TransferPreapproval>[] {
  if (preapprovals.length === 0) return preapprovals;
  const operator = newestFactory?.fields.operator;
  return preapprovals.filter((preapproval) => {
    const { instrumentAllowances, operator: named } = preapproval.fields;
    const isAllowed = instrumentAllowances.length === 0 || instrumentAllowances.includes(instrumentId);
    return isAllowed && (operator === undefined || named === operator) && !isInReassignment(preapproval);
  });
}

/**
 * The preapprovals on a synchronizer that has the instrument's contracts. A contract that exists nowhere excludes none:
 * the request then fails and names it, because an offer could not be accepted either.
 */
function reachablePreapprovals(
  view: View,
  registrar: string,
  instrumentId: string,
  preapprovals: readonly Contract<TransferPreapproval>[],
): readonly Contract<TransferPreapproval>[] {
  const isReachable = directTransferReach(view, registrar, instrumentId);
  return preapprovals.filter(({ synchronizerId }) => isReachable(synchronizerId));
}

/** Whether a preapproval on a synchronizer makes transfers of the instrument direct. Otherwise they are offers. */
export function directTransferReach(
  view: View,
  registrar: string,
  instrumentId: string,
): (synchronizer: string | undefined) => boolean {
  const needed = [
    candidateConfigurations(view, registrar, instrumentId),
    view.byKey(transferRule, indexKeys.transferRule(registrar)),
  ];
  return (synchronizer) =>
    needed.every(
      (candidates) =>
        candidates.length === 0 || candidates.some(({ synchronizerId }) => synchronizerId === synchronizer),
    );
}
