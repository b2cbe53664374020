import { RegistryError } from "../../../../domain/errors.js";
import type { Contract } from "../../../../domain/contract.js";
import type { Warning } from "../../../sdk/registry.js";
import type { ChoiceOperation, FactoryOperation } from "../../contexts/operations.js";
import { contextOn } from "../../operations/choice-context.js";
import { answerWithFactory } from "../../operations/factory.js";
import { isInReassignment } from "../../selection/candidates.js";
import type { Group } from "../../selection/group.js";
import { neededFactory } from "../../operations/require.js";
import type { AllocationFactory } from "../../templates/services.js";
import { factoriesOf, factoryInputs } from "../factory-attempts.js";
import { findProblems } from "../find-problems.js";
import type { LinesByOperation, OperationLines } from "../operation-lines.js";
import { toWarning } from "../to-warning.js";
import type { RecordingContext } from "../views.js";

/** The operation that creates the instruction of a choice. */
function creationOf(choice: ChoiceOperation): FactoryOperation {
  const [instruction] = choice.split("/", 1);
  if (instruction === "transfer-instruction") return "transfer-factory/offer";
  // The others are those of minting and burning.
  return instruction === "allocation" ? "allocation-factory" : (`${instruction}/create` as FactoryOperation);
}

/** The choices that fail on any instruction about this instrument that is created now. */
export function checkChoices(
  context: RecordingContext,
  { factories, choices }: LinesByOperation,
  group: Group,
  instrument: string,
): Warning[] {
  const { registrar, provider } = group;
  const creations = new Map<FactoryOperation, Contract<AllocationFactory> | undefined>();
  return [...choices.values()].flatMap((lines) => {
    const creation = creationOf(lines.operation);
    const creating = factories.get(creation);
    if (!creations.has(creation) && creating !== undefined)
      creations.set(creation, findCreatingFactory(context, creating, group, instrument));
    const factory = creations.get(creation);
    const synchronizer = factory?.synchronizerId;
    if (factory === undefined || synchronizer === undefined) return [];
    const inputs = { instruments: [instrument], provider };
    return findProblems(lines, context.view, inputs, (definition, given) => {
      contextOn(context, definition, group, synchronizer, given);
    }).map((problem) => toWarning(problem, { registrar, instrument }, inputs, lines.operation));
  });
}

/**
 * The factory that would create the instruction; undefined if none can be created. An instrument whose blocklist is not
 * configured has instructions from before.
 */
function findCreatingFactory(
  context: RecordingContext,
  { answered }: OperationLines<FactoryOperation>,
  group: Group,
  instrument: string,
): Contract<AllocationFactory> | undefined {
  const factories = factoriesOf(context.view, group);
  if (factories.length === 0) return undefined;
  try {
    const needed = () => neededFactory(context.view, group);
    const request = { group, definition: answered, factories, inputs: factoryInputs(instrument), needed };
    const { factoryId } = answerWithFactory(context, request);
    return factories.find(({ contractId }) => contractId === factoryId);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return error.reason === "invalid" ? factories.find((factory) => !isInReassignment(factory)) : undefined;
  }
}
