/** Which preapprovals of the receiver make a transfer direct. */
import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { Considered, Recorder } from "../../sdk/registry.js";
import { isInReassignment } from "../selection/candidates.js";
import { candidateConfigurations } from "../selection/contract-selector.js";
import type { Needed } from "../selection/needed.js";
import { indexKeys } from "../templates/index-keys.js";
import { type TransferPreapproval, transferPreapproval } from "../templates/parties.js";
import { type AllocationFactory, transferRule } from "../templates/services.js";
import type { TransferArguments } from "./arguments.js";

/** The preapprovals for the instrument under the operator of the registrar's factory, except those in reassignment. */
export function coveringPreapprovals(
  preapprovals: readonly Contract<TransferPreapproval>[],
  transfer: TransferArguments,
  [newestFactory]: readonly Contract<AllocationFactory>[],
): readonly Contract<TransferPreapproval>[] {
  if (preapprovals.length === 0) return preapprovals;
  const operator = newestFactory?.fields.operator;
  return preapprovals.filter((one) => whyNotCovering(one, transfer, operator) === undefined);
}

/** Why a preapproval does not cover the transfer, as a predicate; undefined if it does. */
function whyNotCovering(
  preapproval: Contract<TransferPreapproval>,
  { instrumentId }: TransferArguments,
  operator: string | undefined,
): string | undefined {
  const { instrumentAllowances, operator: named } = preapproval.fields;
  if (instrumentAllowances.length > 0 && !instrumentAllowances.includes(instrumentId))
    return "does not allow this instrument";
  if (operator !== undefined && named !== operator) return "names another operator than the newest AllocationFactory";
  return isInReassignment(preapproval) ? "is between synchronizers" : undefined;
}

export const neededPreapproval = (party: string, registrar: string): Needed => ({
  name: `the TransferPreapproval of receiver ${party}`,
  kind: "preapproval",
  party,
  registrar,
  template: transferPreapproval.qualifiedName,
});

/** For explanations: why the preapprovals that do not count are passed over. If none counts, the transfer is an offer. */
export function explainPreapprovals(
  recorder: Recorder,
  registrar: string,
  transfer: TransferArguments,
  [newestFactory]: readonly Contract<AllocationFactory>[],
  candidates: readonly Contract<TransferPreapproval>[],
  counting: readonly Contract<TransferPreapproval>[],
): Considered {
  const operator = newestFactory?.fields.operator;
  const chosen = new Set(counting);
  const reasons = new Map<Contract, string>();
  for (const candidate of candidates)
    if (!chosen.has(candidate)) reasons.set(candidate, whyNotCovering(candidate, transfer, operator) ?? UNREACHABLE);
  const needed = neededPreapproval(transfer.receiver.party, registrar);
  if (counting.length === 0) recorder.search({ needed, candidates, chosen: undefined, required: false, reasons });
  return { candidates, reasons };
}

/**
 * The preapprovals on a synchronizer that has the instrument's contracts. A contract that exists nowhere excludes none:
 * the request then fails and names it, because an offer could not be accepted either.
 */
export function reachablePreapprovals(
  view: View,
  registrar: string,
  transfer: TransferArguments,
  preapprovals: readonly Contract<TransferPreapproval>[],
): readonly Contract<TransferPreapproval>[] {
  const isReachable = directTransferReach(view, registrar, transfer.instrumentId);
  return preapprovals.filter(({ synchronizerId }) => isReachable(synchronizerId));
}

const UNREACHABLE = "is on a synchronizer without the contracts of the instrument";

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
