import type { Contract } from "../../../domain/contract.js";
import type { RegistryError } from "../../../domain/errors.js";
import type { View } from "../../../store/port.js";
import type { Warning } from "../../sdk/registry.js";
import type { FactoryOperation } from "../contexts/operations.js";
import { findFactories, neededFactory, notServed } from "../operations/require.js";
import { inReassignment, isInReassignment, missing } from "../selection/candidates.js";
import type { Group } from "../selection/group.js";
import type { AllocationFactory } from "../templates/services.js";
import { factoriesOf } from "./factory-attempts.js";
import { remedies } from "./remedies.js";

/** Why no AllocationFactory of a group can be used. */
export interface FactoryProblem {
  /** Whether an operation fails because of it, whatever the request. */
  fails(operation: FactoryOperation): boolean;
  /** The warning that names these operations. */
  warn(operations: readonly FactoryOperation[]): Warning;
}

/** Undefined if a factory can be used. */
export function findFactoryProblem(view: View, group: Group): FactoryProblem | undefined {
  const { registrar } = group;
  const needed = neededFactory(view, group);
  const factories = factoriesOf(view, group);
  const [first] = factories;
  if (first === undefined)
    return noFactory(registrar, findFactories(view, registrar).length === 0 ? notServed(registrar) : missing(needed));
  return factories.every(isInReassignment) ? allMoving(first, inReassignment(first, needed)) : undefined;
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
  factory: Contract<AllocationFactory>,
  { reason: refusal, message: problem }: RegistryError,
): FactoryProblem => ({
  // The factory of a direct transfer is a preapproval.
  fails: (operation) => operation !== "transfer-factory/direct",
  warn: (operations) => ({
    kind: "contract-in-reassignment",
    registrar: factory.fields.registrar,
    contractId: factory.contractId,
    operations,
    refusal,
    problem,
    remedy: remedies["contract-in-reassignment"],
  }),
});
