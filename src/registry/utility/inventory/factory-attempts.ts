/** The operations that return a factory, attempted for an instrument. */
import type { Contract } from "../../../domain/contract.js";
import type { CheckContext } from "../../sdk/registry.js";
import type { FactoryOperation } from "../contexts/operations.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { contextOn } from "../operations/choice-context.js";
import { answerWithFactory } from "../operations/factory.js";
import { directTransferReach } from "../operations/preapprovals.js";
import { candidateConfigurations } from "../selection/contract-selector.js";
import type { AllocationFactory } from "../templates/services.js";
import type { Attempt } from "./find-problems.js";

/** Attempts an operation with the registrar's AllocationFactories, newest first. */
export function attemptWithFactories(
  context: CheckContext,
  registrar: string,
  factories: readonly Contract<AllocationFactory>[],
): Attempt {
  return (definition, inputs) => {
    answerWithFactory(context, { registrar, definition, factories, inputs });
  };
}

/** Attempts a direct transfer on each synchronizer where a preapproval would count. Undefined if there is none. */
export function attemptDirectTransfer(
  context: CheckContext,
  registrar: string,
  instrument: string,
): Attempt | undefined {
  const { view } = context;
  const isReachable = directTransferReach(view, registrar, instrument);
  const synchronizers = new Set(
    candidateConfigurations(view, registrar, instrument)
      .flatMap(({ synchronizerId }) => synchronizerId ?? [])
      .filter(isReachable),
  );
  if (synchronizers.size === 0) return undefined;
  return (definition, inputs) => {
    for (const synchronizer of synchronizers) contextOn(context, definition, registrar, synchronizer, inputs);
  };
}

/** The inputs of any request to an operation about one instrument. The parties are not known. */
export function factoryInputs(operation: FactoryOperation, registrar: string, instrument: string): EntryInputs {
  const instruments = [instrument];
  // The registrar needs credentials for any owners of the outputs.
  return operation === "burn-mint-factory" ? { instruments, issuers: [registrar] } : { instruments };
}
