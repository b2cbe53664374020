/** What will fail, of operations on an instrument and of pending instructions. The checks run the operations themselves. */
import type { Contract } from "../../domain/contract.js";
import { errorIn, type RegistryError } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import { type ContextDefinition, type EntryInputs, inputsOf, writeContext } from "../engine/answer.js";
import type { Found } from "../engine/entries.js";
import { answerWithFactory } from "../engine/operations.js";
import { checkInstruction, hasEnded, problemsOf, remedies, toWarning } from "../engine/problems.js";
import type { Group } from "../engine/selector.js";
import type { TableFields } from "../engine/templates.js";
import { inReassignment, isInReassignment, missing } from "../needed.js";
import { isExit } from "../operation-names.js";
import type { Check, CheckContext, Warning } from "../sdk/registry.js";
import {
  type ChoiceOperation,
  choiceOperations,
  type FactoryOperation,
  factoryOperations,
  type UtilityChoice,
  type UtilityContexts,
} from "./contexts.js";
import type { Role } from "./credentials.js";
import { credentialRoles, type UtilitySelector } from "./entries.js";
import {
  candidateConfigurations,
  factoriesOf,
  findFactories,
  groupOf,
  hasVersion2,
  neededFactory,
  notServed,
  withProvider,
} from "./factory.js";
import { directTransferReach } from "./transfer.js";
import type { PackageVersions } from "../engine/versions.js";

type Definition = ContextDefinition<UtilitySelector>;

/** An operation as the service answers it, and as the ledger needs it. */
export interface CheckedOperation<O extends string = string, D extends Definition = Definition> {
  readonly operation: O;
  /** What the service writes. */
  readonly answered: D;
  /** The same with all required that the choice on the ledger needs: credentials, and the holding that is locked. */
  readonly strict: D;
  /** The roles whose credentials the operation needs. */
  readonly roles: readonly Role[];
  /** Whether a party without these is refused. */
  readonly requiresCredentials: boolean;
}

export interface CheckedOperations {
  readonly factories: ReadonlyMap<FactoryOperation, CheckedOperation<FactoryOperation>>;
  readonly choices: ReadonlyMap<ChoiceOperation, CheckedOperation<ChoiceOperation, UtilityChoice>>;
  readonly packageVersions: PackageVersions;
}

export const checkedOperations = ({
  factories,
  choices,
  table,
  packageVersions,
}: UtilityContexts): CheckedOperations => ({
  factories: new Map(
    factoryOperations.map((name) => [
      name,
      checkedOperation(name, table.rows[name]?.missing === "allow", factories[name]),
    ]),
  ),
  choices: new Map(
    choiceOperations.map((name) => [
      name,
      checkedOperation(name, table.rows[name]?.missing === "allow", choices[name]),
    ]),
  ),
  packageVersions,
});

function checkedOperation<O extends string, D extends Definition>(
  operation: O,
  allowsMissing: boolean,
  answered: D,
): CheckedOperation<O, D> {
  // Where what is missing is left out, the ledger needs none of it.
  if (allowsMissing) return { operation, answered, strict: answered, roles: [], requiresCredentials: false };
  const isNeeded = (name: string) => credentialRoles.has(name) || (name === "locked-holding" && !isExit(operation));
  const lines = answered.lines.map((line) => (isNeeded(line.name) ? { ...line, required: true } : line));
  const requiring = answered.lines.filter(({ name }) => credentialRoles.has(name));
  return {
    operation,
    answered,
    strict: { ...answered, lines },
    roles: [...new Set(requiring.flatMap(({ name }) => credentialRoles.get(name) ?? []))],
    requiresCredentials: requiring.some(({ required }) => required),
  };
}

/** The inputs of any request to an operation about one instrument. The parties are not known. */
export const anyInputs = (instrument: string): EntryInputs => ({ instruments: [instrument], roles: {} });

/** Those that an operation may return: a settlement is of version 2 of the token standard. */
export const usableFor = (
  operation: FactoryOperation,
  factories: readonly Found[],
  versions: PackageVersions,
): readonly Found[] =>
  operation === "settlement-factory" ? factories.filter((one) => hasVersion2(one, versions)) : factories;

/** Attempts an operation with some of the group's AllocationFactories. */
export const attemptWith =
  (context: CheckContext, group: Group, factories: readonly Found[], inputs: EntryInputs) => (definition: Definition) =>
    answerWithFactory(context, {
      group,
      definition,
      factories,
      inputs: withProvider(inputs, group),
      needed: () => neededFactory(context.view, group),
    });

/** Attempts a direct transfer on each synchronizer where a preapproval would count. Undefined if there is none. */
function attemptDirectTransfer(context: CheckContext, group: Group, instrument: string) {
  const { view } = context;
  const isReachable = directTransferReach(view, group, instrument);
  const synchronizers = new Set(
    candidateConfigurations(view, group.registrar, instrument)
      .flatMap(({ synchronizerId }) => synchronizerId ?? [])
      .filter(isReachable),
  );
  if (synchronizers.size === 0) return undefined;
  return (definition: Definition) => {
    for (const synchronizer of synchronizers)
      writeContext(context, definition, group, synchronizer, withProvider(anyInputs(instrument), group));
  };
}

/** Why no AllocationFactory of a group can be used, as a warning of an operation; undefined if one of them can. */
export function factoryProblem(
  view: View,
  group: Group,
  factories: readonly Found[],
  operation: FactoryOperation,
): Warning | undefined {
  const { registrar } = group;
  const about = ({ reason: refusal, message: problem }: RegistryError) => ({ registrar, refusal, problem });
  const [first] = factories;
  if (first === undefined) {
    const isServed = findFactories(view, registrar).length > 0;
    const error = isServed ? missing(neededFactory(view, group)) : notServed(registrar);
    const operations = isServed ? [operation] : [operation, "metadata"];
    return { ...about(error), kind: "no-factory", operations, remedy: remedies["no-factory"] };
  }
  if (!factories.every(isInReassignment)) return undefined;
  const kind = "contract-in-reassignment";
  const error = inReassignment(first, neededFactory(view, group));
  return { ...about(error), kind, contractId: first.contractId, operations: [operation], remedy: remedies[kind] };
}

/** The operations that return a factory and cannot do so for this instrument. */
export function checkFactories(
  context: CheckContext,
  { factories: operations, packageVersions }: CheckedOperations,
  group: Group,
  instrument: string,
): Warning[] {
  const { view } = context;
  const { registrar } = group;
  const factories = factoriesOf(view, group);
  const direct = attemptDirectTransfer(context, group, instrument);
  return [...operations.values()].flatMap((one): Warning[] => {
    const { operation } = one;
    const usable = usableFor(operation, factories, packageVersions);
    // A warning of its own.
    if (usable.length === 0 && factories.length > 0) return [];
    const isDirect = operation === "transfer-factory/direct" && direct !== undefined;
    // Without a preapproval that counts, the transfer is an offer.
    const isOffer = operation === "transfer-factory/direct" && !isDirect;
    const { answered } = (isOffer ? operations.get("transfer-factory/offer") : undefined) ?? one;
    const unusable = factoryProblem(view, group, usable, operation);
    // The factory of a direct transfer is a preapproval.
    if (unusable !== undefined && (unusable.kind === "no-factory" || !isDirect)) return [unusable];
    const attempt = isDirect ? direct : attemptWith(context, group, usable, anyInputs(instrument));
    return problemsOf(() => attempt(answered)).map((problem) =>
      toWarning(problem, { registrar, instrument }, operation),
    );
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
  context: CheckContext,
  { factories, choices }: CheckedOperations,
  group: Group,
  instrument: string,
): Warning[] {
  const { registrar } = group;
  const inputs = withProvider(anyInputs(instrument), group);
  return [...choices.values()].flatMap(({ operation, answered }) => {
    const creation = factories.get(creationOf(operation));
    const synchronizer = creation && findCreatingFactory(context, creation, group, instrument)?.synchronizerId;
    if (synchronizer === undefined) return [];
    return problemsOf(() => writeContext(context, answered, group, synchronizer, inputs)).map((problem) =>
      toWarning(problem, { registrar, instrument }, operation),
    );
  });
}

/**
 * The factory that would create the instruction; undefined if none can be created. An instrument whose blocklist is not
 * configured has instructions from before.
 */
function findCreatingFactory(
  context: CheckContext,
  { answered }: CheckedOperation,
  group: Group,
  instrument: string,
): Found | undefined {
  const factories = factoriesOf(context.view, group);
  if (factories.length === 0) return undefined;
  let factoryId: string | undefined;
  const error = errorIn(
    () => ({ factoryId } = attemptWith(context, group, factories, anyInputs(instrument))(answered)),
  );
  if (error === undefined) return factories.find(({ contractId }) => contractId === factoryId);
  return error.reason === "invalid" ? factories.find((factory) => !isInReassignment(factory)) : undefined;
}

const SETTLEMENT = "settlement-factory";

/** Pending instructions on which a choice fails. */
export function checkInstructions(
  template: Template<TableFields>,
  operations: CheckedOperations,
  allocationTemplates: readonly Template<TableFields>[],
): Check<TableFields> {
  const choices = [...operations.choices.values()].filter(({ answered }) => answered.templates.includes(template));
  const isAllocation = allocationTemplates.includes(template);
  return {
    template,
    warnings: (context, instructions) =>
      instructions.flatMap((instruction) => [
        ...checkUnknownInstrument(context, operations, instruction),
        ...checkInstruction(context, instruction, choices, groupOf(instruction), isAllocation ? [SETTLEMENT] : []),
        ...(isAllocation && !isInReassignment(instruction) ? checkSettlement(context, operations, instruction) : []),
      ]),
  };
}

/** The check of instruments does not know an instrument without a configuration. */
function checkUnknownInstrument(
  context: CheckContext,
  operations: CheckedOperations,
  instruction: Contract<TableFields>,
): readonly Warning[] {
  const { view } = context;
  const { registrar = "", instruments } = instruction.fields;
  const [instrument = ""] = instruments;
  if (candidateConfigurations(view, registrar, instrument).length > 0) return [];
  // A request for it is answered by the group of the newest factory.
  const [newest] = findFactories(view, registrar);
  return checkFactories(context, operations, groupOf(newest ?? instruction), instrument);
}

/** Whether an allocation can be settled by the settlement factory, in a batch of its own leg. */
function checkSettlement(
  context: CheckContext,
  { factories: operations, packageVersions }: CheckedOperations,
  allocation: Contract<TableFields>,
): readonly Warning[] {
  const { view } = context;
  const { registrar = "" } = allocation.fields;
  const { instruments, roles } = inputsOf(allocation);
  const [instrument = ""] = instruments;
  const named = groupOf(allocation);
  const [newest] = candidateConfigurations(view, registrar, instrument);
  const isNamed = named.operator !== undefined && named.provider !== undefined;
  const group = isNamed || newest === undefined ? named : groupOf(newest);
  const settlement = operations.get(SETTLEMENT);
  const factories = usableFor(SETTLEMENT, factoriesOf(view, group), packageVersions);
  // The warning about the instrument names all operations that need a factory.
  if (settlement === undefined || factoryProblem(view, group, factories, SETTLEMENT) !== undefined) return [];
  const { answered, strict } = settlement;
  const parties = new Set([...(roles["sender"] ?? []), ...(roles["receiver"] ?? [])]);
  const holders = [...parties].map((party) => ({ party, instruments: [instrument] }));
  const inputs = { instruments: [instrument], roles: {}, holders, allocations: [allocation] };
  const attempt = attemptWith(context, group, factories, inputs);
  const instruction = { contractId: allocation.contractId, label: "allocation" };
  return (
    problemsOf(
      () => attempt(answered),
      () => attempt(strict),
    )
      // The ledger refuses an expired one, whatever else it lacks.
      .filter(({ refusal }) => refusal !== undefined || !hasEnded(context, allocation))
      .map((problem) => toWarning(problem, { registrar, instrument, instruction }, SETTLEMENT))
  );
}
