import type { View } from "../../state/port.js";
import { allOf, type Found } from "../engine/entries.js";
import { transferSubject } from "../engine/choice-context.js";
import { answerWithFactory } from "../engine/operations.js";
import { type Group, ofGroup } from "../engine/selector.js";
import { roleOf } from "../engine/templates.js";
import { transferArguments } from "../factory-arguments.js";
import { isInReassignment, type Needed } from "../needed.js";
import type { Contract, FactoryQuery, RequestContext, TransferFactoryResult } from "../sdk/registry.js";
import type { UtilityContexts } from "./contexts.js";
import { candidateConfigurations, findGroupFactories, hasVersion2, version2Of } from "./factory.js";
import { entryNamed, transferPreapproval, transferRule } from "./templates.js";
import type { PackageVersions } from "../engine/versions.js";

/** By receiver. */
const preapprovals = entryNamed("preapproval");

/**
 * The factory of `TransferFactory_Transfer`: the receiver's preapproval if the transfer can be direct, else the
 * AllocationFactory. The input holdings matter only if several providers have the instrument.
 */
export function transferFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
): TransferFactoryResult {
  const { view, recorder } = context;
  const { registrar } = query;
  const given = transferArguments(query);
  const { receiver, instrumentId, inputHoldings, targetSynchronizer } = given;
  const subject = transferSubject(given);
  const { instruments, isSelf = false } = subject;
  const candidates = isSelf ? [] : preapprovals.candidates(view, registrar, [receiver.party]);
  const version2 = version2Of(query, contexts.packageVersions);
  const factories = findGroupFactories(context, {
    registrar,
    instruments,
    inputHoldings,
    isSelf,
    targetSynchronizer,
    version2,
  });
  const { group } = factories;
  const isReachable = directTransferReach(view, group, instrumentId);
  const reasons = new Map<Contract, string>();
  const covering = candidates.filter((one) => {
    const why = whyNotCovering(one, group, instrumentId, isReachable, version2);
    if (why !== undefined) reasons.set(one, why);
    return why === undefined;
  });
  const needed = neededPreapproval(receiver.party, registrar);
  // Without one that counts the transfer is an offer.
  if (!isSelf && covering.length === 0)
    recorder?.search({ needed, candidates, chosen: undefined, required: false, reasons });
  const transferKind = isSelf ? "self" : covering.length > 0 ? "direct" : "offer";
  const found = answerWithFactory(context, {
    ...(transferKind === "direct"
      ? {
          group,
          factories: covering,
          targetSynchronizer,
          needed: () => needed,
          considered: { candidates, reasons },
        }
      : { ...factories, isTargetIncomplete: isSelf && !hasAll(view, group, instrumentId, targetSynchronizer) }),
    definition: contexts.factories[`transfer-factory/${transferKind}`],
    subject: { ...subject, meta: query.meta },
  });
  return { ...found, transferKind, instrumentId };
}

/**
 * Why a preapproval does not make the transfer direct, as a predicate. Undefined if it allows the instrument and the transfer
 * can run: its operator is that of the rule, and configuration and rule of the group are on its synchronizer.
 */
function whyNotCovering(
  preapproval: Found,
  { operator }: Group,
  instrumentId: string,
  isReachable: (synchronizer: string | undefined) => boolean,
  version2: PackageVersions | undefined,
): string | undefined {
  const { instruments: allowed } = preapproval.fields;
  const named = roleOf(preapproval.fields, "operator");
  if (allowed.length > 0 && !allowed.includes(instrumentId)) return "does not allow this instrument";
  if (operator !== undefined && named !== operator) return `names another operator than the instrument's, ${operator}`;
  if (version2 !== undefined && !hasVersion2(preapproval, version2))
    return "is of a package without version 2 of the token standard";
  if (isInReassignment(preapproval)) return "is between synchronizers";
  return isReachable(preapproval.synchronizerId)
    ? undefined
    : "is on a synchronizer without the configuration or the rule of the instrument";
}

const neededPreapproval = (party: string, registrar: string): Needed => ({
  name: `the TransferPreapproval of receiver ${party}`,
  kind: "preapproval",
  party,
  registrar,
  template: transferPreapproval.qualifiedName,
});

/** Whether a transfer of the instrument can be direct on a synchronizer: it has configuration and rule of the group. */
export function directTransferReach(
  view: View,
  group: Group,
  instrumentId: string,
): (synchronizer: string | undefined) => boolean {
  const needed = configurationsAndRules(view, group, instrumentId);
  return (synchronizer) =>
    synchronizer !== undefined && needed.every((candidates) => isAnyOn(candidates, synchronizer));
}

/** Whether configuration and rule of the group, as far as they exist, are on the synchronizer. A transfer to oneself requires none. */
const hasAll = (view: View, group: Group, instrumentId: string, synchronizer: string | undefined): boolean =>
  synchronizer === undefined ||
  configurationsAndRules(view, group, instrumentId).every(
    (candidates) => candidates.length === 0 || isAnyOn(candidates, synchronizer),
  );

const configurationsAndRules = (view: View, group: Group, instrumentId: string): readonly (readonly Contract[])[] => [
  ofGroup(candidateConfigurations(view, group.registrar, instrumentId), group),
  ofGroup(allOf(transferRule, view, group.registrar), group),
];

const isAnyOn = (candidates: readonly Contract[], synchronizer: string): boolean =>
  candidates.some(({ synchronizerId }) => synchronizerId === synchronizer);
