/** The operations that return a factory, attempted for an instrument of a group. */
import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { CheckContext } from "../../sdk/registry.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { contextOn } from "../operations/choice-context.js";
import { answerWithFactory } from "../operations/factory.js";
import { directTransferReach } from "../operations/preapprovals.js";
import { findFactories, neededFactory } from "../operations/require.js";
import { candidateConfigurations, type Group, ofGroup } from "../selection/group.js";
import type { AllocationFactory } from "../templates/services.js";
import type { Attempt } from "./find-problems.js";

/** The AllocationFactories of a group, newest first. */
export const factoriesOf = (view: View, group: Group): readonly Contract<AllocationFactory>[] =>
  ofGroup(findFactories(view, group.registrar), group);

/** Attempts an operation with the group's AllocationFactories. */
export function attemptWithFactories(
  context: CheckContext,
  group: Group,
  factories: readonly Contract<AllocationFactory>[] = factoriesOf(context.view, group),
): Attempt {
  const needed = () => neededFactory(context.view, group);
  return (definition, inputs) => {
    answerWithFactory(context, { group, definition, factories, inputs, needed });
  };
}

/** Attempts a direct transfer on each synchronizer where a preapproval would count. Undefined if there is none. */
export function attemptDirectTransfer(context: CheckContext, group: Group, instrument: string): Attempt | undefined {
  const { view } = context;
  const isReachable = directTransferReach(view, group, instrument);
  const synchronizers = new Set(
    candidateConfigurations(view, group.registrar, instrument)
      .flatMap(({ synchronizerId }) => synchronizerId ?? [])
      .filter(isReachable),
  );
  if (synchronizers.size === 0) return undefined;
  return (definition, inputs) => {
    for (const synchronizer of synchronizers) contextOn(context, definition, group, synchronizer, inputs);
  };
}

/** The inputs of any request to an operation about one instrument. The parties are not known. */
export const factoryInputs = (instrument: string): EntryInputs => ({ instruments: [instrument] });
