import type { View } from "../../state/port.js";
import { allOf, type Found } from "../engine/entries.js";
import { transferSubject } from "../engine/request-subject.js";
import { answerWithFactory } from "../engine/operations.js";
import { type Group, ofGroup } from "../engine/selector.js";
import { roleOf } from "../engine/templates.js";
import { transferArguments } from "../factory-arguments.js";
import { isInReassignment, type Needed } from "../needed.js";
import type {
  Considered,
  Contract,
  FactoryQuery,
  Recorder,
  RequestContext,
  TransferFactoryResult,
  TransferKind,
} from "../sdk/registry.js";
import type { UtilityContexts } from "./contexts.js";
import {
  candidateConfigurations,
  findGroupFactories,
  hasVersion2,
  holdingsForGroup,
  notePaused,
  version2Of,
  withProvider,
} from "./factory.js";
import { entryNamed, transferPreapproval, transferRule } from "./templates.js";
import type { PackageVersions } from "../engine/versions.js";

const operations = {
  offer: "transfer-factory/offer",
  direct: "transfer-factory/direct",
  self: "transfer-factory/self",
} as const satisfies Readonly<Record<TransferKind, string>>;

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
  notePaused(context, registrar, instruments);
  const candidates = isSelf ? [] : preapprovals.candidates(view, registrar, [receiver.party]);
  const version2 = version2Of(query, contexts.packageVersions);
  const factories = findGroupFactories(context, {
    registrar,
    instruments,
    inputHoldings,
    needsNoConfiguration: isSelf,
    targetSynchronizer,
    version2,
  });
  const { group } = factories;
  const covering = coveringPreapprovals(view, group, instrumentId, candidates, version2);
  const asked = { receiver: receiver.party, instrumentId };
  const considered =
    recorder === undefined || isSelf
      ? undefined
      : explainPreapprovals(recorder, view, group, asked, candidates, version2);

  const transferKind = isSelf ? "self" : covering.length > 0 ? "direct" : "offer";
  const { factoryId, values, disclosed } = answerWithFactory(context, {
    ...(transferKind === "direct"
      ? {
          group,
          factories: covering,
          targetSynchronizer,
          needed: () => neededPreapproval(receiver.party, registrar),
          considered,
        }
      : { ...factories, isTargetIncomplete: isSelf && !hasAll(view, group, instrumentId, targetSynchronizer) }),
    definition: contexts.factories[operations[transferKind]],
    subject: withProvider({ ...subject, meta: query.meta }, group),
  });
  return { factoryId, transferKind, instrumentId, values, disclosed };
}

/** See InputHoldings. */
export function holdingsForTransfer(view: View, query: FactoryQuery): readonly string[] {
  const given = transferArguments(query);
  const { instruments, isSelf = false } = transferSubject(given);
  const { inputHoldings } = given;
  return holdingsForGroup(view, {
    registrar: query.registrar,
    instruments,
    inputHoldings,
    needsNoConfiguration: isSelf,
  });
}

type Preapprovals = readonly Found[];

/**
 * The preapprovals of the receiver for the instrument, newest first, where the transfer can run: the operator of the
 * preapproval is that of the rule, and configuration and rule of the group are on its synchronizer.
 */
function coveringPreapprovals(
  view: View,
  group: Group,
  instrumentId: string,
  candidates: Preapprovals,
  version2: PackageVersions | undefined,
): Preapprovals {
  if (candidates.length === 0) return candidates;
  const isReachable = directTransferReach(view, group, instrumentId);
  return candidates.filter((one) => whyNotCovering(one, group, instrumentId, isReachable, version2) === undefined);
}

/** Why a preapproval does not make the transfer direct, as a predicate; undefined if it does. */
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

/** For explanations: why the preapprovals that do not count are passed over. If none counts, the transfer is an offer. */
function explainPreapprovals(
  recorder: Recorder,
  view: View,
  group: Group,
  { receiver, instrumentId }: { readonly receiver: string; readonly instrumentId: string },
  candidates: Preapprovals,
  version2: PackageVersions | undefined,
): Considered {
  const isReachable = directTransferReach(view, group, instrumentId);
  const reasons = new Map<Contract, string>();
  for (const candidate of candidates) {
    const why = whyNotCovering(candidate, group, instrumentId, isReachable, version2);
    if (why !== undefined) reasons.set(candidate, why);
  }
  const needed = neededPreapproval(receiver, group.registrar);
  if (reasons.size === candidates.length)
    recorder.search({ needed, candidates, chosen: undefined, required: false, reasons });
  return { candidates, reasons };
}

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
