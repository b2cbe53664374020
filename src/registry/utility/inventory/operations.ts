/** What fails for any request about an instrument of a group: the operations that return a factory, and later choices. */
import type { Contract } from "../../../domain/contract.js";
import { RegistryError } from "../../../domain/errors.js";
import type { View } from "../../../store/port.js";
import type { Warning } from "../../sdk/registry.js";
import type { ChoiceOperation, FactoryOperation } from "../contexts/operations.js";
import type { PackageVersions } from "../contexts/versions.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { contextOn } from "../operations/choice-context.js";
import { answerWithFactory, hasVersion2 } from "../operations/factory.js";
import { directTransferReach } from "../operations/preapprovals.js";
import { findFactories, neededFactory, notServed } from "../operations/require.js";
import { inReassignment, isInReassignment, missing } from "../selection/candidates.js";
import { candidateConfigurations, type Group, ofGroup } from "../selection/group.js";
import type { AllocationFactory } from "../templates/services.js";
import type { LinesByOperation, OperationLines } from "./operation-lines.js";
import { type Attempt, findProblems, remedies, toWarning } from "./problems.js";
import type { RecordingContext } from "./views.js";

type Factories = readonly Contract<AllocationFactory>[];

/** The inputs of any request to an operation about one instrument. The parties are not known. */
export const factoryInputs = (instrument: string): EntryInputs => ({ instruments: [instrument] });

/** The AllocationFactories of a group, newest first. */
export const factoriesOf = (view: View, group: Group): Factories =>
  ofGroup(findFactories(view, group.registrar), group);

/** Those that an operation may return: a settlement is of version 2 of the token standard. */
export const usableFor = (operation: FactoryOperation, factories: Factories, versions: PackageVersions): Factories =>
  operation === "settlement-factory" ? factories.filter((one) => hasVersion2(one, versions)) : factories;

/** Attempts an operation with some of the group's AllocationFactories. */
export function attemptWithFactories(context: RecordingContext, group: Group, factories: Factories): Attempt {
  const needed = () => neededFactory(context.view, group);
  return (definition, inputs) => {
    answerWithFactory(context, { group, definition, factories, inputs, needed });
  };
}

/** Attempts a direct transfer on each synchronizer where a preapproval would count. Undefined if there is none. */
function attemptDirectTransfer(context: RecordingContext, group: Group, instrument: string): Attempt | undefined {
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

/** Why no AllocationFactory of a group can be used. */
interface FactoryProblem {
  /** Whether an operation fails because of it, whatever the request. */
  fails(operation: FactoryOperation): boolean;
  warn(operation: FactoryOperation): Warning;
}

/** Undefined if one of the factories, which are those of the group that may be returned, can be used. */
export function findFactoryProblem(view: View, group: Group, factories: Factories): FactoryProblem | undefined {
  const { registrar } = group;
  const [first] = factories;
  if (first === undefined) {
    const isServed = findFactories(view, registrar).length > 0;
    return noFactory(registrar, isServed, isServed ? missing(neededFactory(view, group)) : notServed(registrar));
  }
  return factories.every(isInReassignment)
    ? allMoving(first, inReassignment(first, neededFactory(view, group)))
    : undefined;
}

const noFactory = (
  registrar: string,
  isServed: boolean,
  { reason: refusal, message: problem }: RegistryError,
): FactoryProblem => ({
  fails: () => true,
  warn: (operation) => ({
    kind: "no-factory",
    registrar,
    operations: isServed ? [operation] : [operation, "metadata"],
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
  warn: (operation) => ({
    kind: "contract-in-reassignment",
    registrar: factory.fields.registrar,
    contractId: factory.contractId,
    operations: [operation],
    refusal,
    problem,
    remedy: remedies["contract-in-reassignment"],
  }),
});

/** The operations that return a factory and cannot do so for this instrument. */
export function checkFactories(
  context: RecordingContext,
  { factories: operations, packageVersions }: LinesByOperation,
  group: Group,
  instrument: string,
): Warning[] {
  const { view } = context;
  const { registrar } = group;
  const factories = factoriesOf(view, group);
  const direct = attemptDirectTransfer(context, group, instrument);
  return [...operations.values()].flatMap((lines) => {
    const { operation } = lines;
    const usable = usableFor(operation, factories, packageVersions);
    // A warning of its own.
    if (usable.length === 0 && factories.length > 0) return [];
    const isDirect = operation === "transfer-factory/direct" && direct !== undefined;
    // Without a preapproval that counts, the transfer is an offer.
    const isOffer = operation === "transfer-factory/direct" && !isDirect;
    const answering = isOffer ? (operations.get("transfer-factory/offer") ?? lines) : lines;
    const unusable = findFactoryProblem(view, group, usable);
    if (unusable?.fails(answering.operation) === true) return [unusable.warn(operation)];
    const inputs = factoryInputs(instrument);
    const attempt = isDirect ? direct : attemptWithFactories(context, group, usable);
    return findProblems(answering, view, inputs, attempt)
      .filter(({ refusal }) => refusal !== undefined)
      .map((problem) => toWarning(problem, { registrar, instrument }, inputs, operation));
  });
}

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
  { answered: definition }: OperationLines<FactoryOperation>,
  group: Group,
  instrument: string,
): Contract<AllocationFactory> | undefined {
  const factories = factoriesOf(context.view, group);
  if (factories.length === 0) return undefined;
  const needed = () => neededFactory(context.view, group);
  const request = { group, definition, factories, inputs: factoryInputs(instrument), needed };
  try {
    const { factoryId } = answerWithFactory(context, request);
    return factories.find(({ contractId }) => contractId === factoryId);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return error.reason === "invalid" ? factories.find((factory) => !isInReassignment(factory)) : undefined;
  }
}
