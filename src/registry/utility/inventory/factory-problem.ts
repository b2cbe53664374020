import { RegistryError } from "../../../domain/errors.js";
import type { View } from "../../../store/port.js";
import type { Warning } from "../../sdk/registry.js";
import { type FactoryOperation, factoryOperations } from "../contexts/operations.js";
import { allocationFactoryName } from "../operations/factory.js";
import { requireFactories } from "../operations/require.js";
import { isInReassignment, requireSynchronizer } from "../selection/candidates.js";
import { remedies } from "./remedies.js";

/** Why no AllocationFactory of a registrar can be used. */
export interface FactoryProblem {
  /** The operations that fail because of it, whatever the request. */
  readonly operations: readonly FactoryOperation[];
  readonly warning: Warning;
}

/** Undefined if a factory can be used. */
export function findFactoryProblem(view: View, registrar: string): FactoryProblem | undefined {
  try {
    const factories = requireFactories(view, registrar);
    const [first] = factories;
    if (first === undefined || !factories.every(isInReassignment)) return undefined;
    requireSynchronizer(first, allocationFactoryName(registrar));
    return undefined;
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return toProblem(view, registrar, error);
  }
}

function toProblem(
  view: View,
  registrar: string,
  { reason: refusal, message: problem }: RegistryError,
): FactoryProblem {
  const isMissing = refusal === "not-found";
  const kind = isMissing ? "no-factory" : "contract-in-reassignment";
  // The factory of a direct transfer is a preapproval.
  const operations = factoryOperations.filter((operation) => isMissing || operation !== "transfer-factory/direct");
  const contractId = isMissing ? undefined : requireFactories(view, registrar)[0]?.contractId;
  const failing = isMissing ? [...operations, "metadata"] : operations;
  const remedy = remedies[kind];
  return { operations, warning: { kind, registrar, contractId, operations: failing, refusal, problem, remedy } };
}
