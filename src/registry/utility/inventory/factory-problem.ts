import { RegistryError } from "../../../domain/errors.js";
import type { View } from "../../../store/port.js";
import type { Warning } from "../../sdk/registry.js";
import type { FactoryOperation } from "../contexts/operations.js";
import { neededFactory, requireFactories } from "../operations/require.js";
import { isInReassignment, requireSynchronizer } from "../selection/candidates.js";
import { remedies } from "./remedies.js";

/** Why no AllocationFactory of a registrar can be used. */
export interface FactoryProblem {
  /** Whether an operation fails because of it, whatever the request. */
  fails(operation: FactoryOperation): boolean;
  /** The warning that names these operations. */
  warn(operations: readonly FactoryOperation[]): Warning;
}

/** Undefined if a factory can be used. */
export function findFactoryProblem(view: View, registrar: string): FactoryProblem | undefined {
  try {
    const factories = requireFactories(view, registrar);
    const [first] = factories;
    if (first === undefined || !factories.every(isInReassignment)) return undefined;
    requireSynchronizer(first, neededFactory(registrar));
    return undefined;
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return error.reason === "not-found" ? noFactory(registrar, error) : allMoving(view, registrar, error);
  }
}

const noFactory = (registrar: string, { reason: refusal, message: problem }: RegistryError): FactoryProblem => ({
  fails: () => true,
  warn: (operations) => ({
    kind: "no-factory",
    registrar,
    operations: [...operations, "metadata"],
    refusal,
    problem,
    remedy: remedies["no-factory"],
  }),
});

const allMoving = (
  view: View,
  registrar: string,
  { reason: refusal, message: problem }: RegistryError,
): FactoryProblem => ({
  // The factory of a direct transfer is a preapproval.
  fails: (operation) => operation !== "transfer-factory/direct",
  warn: (operations) => ({
    kind: "contract-in-reassignment",
    registrar,
    contractId: requireFactories(view, registrar)[0]?.contractId,
    operations,
    refusal,
    problem,
    remedy: remedies["contract-in-reassignment"],
  }),
});
