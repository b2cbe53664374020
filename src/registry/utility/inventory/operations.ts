/** What fails for any request about an instrument of a group: the operations that return a factory, and later choices. */
import type { Contract } from "../../../domain/contract.js";
import { RegistryError } from "../../../domain/errors.js";
import type { View } from "../../../store/port.js";
import type { Warning } from "../../sdk/registry.js";
import { contextOn, findFactories, neededFactory, notServed } from "../choice.js";
import type { ContextDefinition, DisclosureRule, EntryInputs, EntryRule } from "../context.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import {
  type ChoiceOperation,
  type FactoryOperation,
  factoryOperations,
  isExit,
  type Operation,
  type OperationRow,
} from "../contexts/definition.js";
import type { PackageVersions } from "../contexts/versions.js";
import type { Role } from "../credentials.js";
import {
  holderCredentialsEntry,
  issuerCredentialsEntry,
  lockedHoldingDisclosure,
  receiverCredentialsEntry,
  senderCredentialsEntry,
} from "../entries.js";
import { answerWithFactory, hasVersion2 } from "../factory.js";
import { candidateConfigurations, type Group, ofGroup } from "../group.js";
import { inReassignment, isInReassignment, missing } from "../../needed.js";
import type { AllocationFactory } from "../templates.js";
import { directTransferReach } from "../transfer.js";
import { type Attempt, findProblems, type RecordingContext, remedies, toWarning } from "./problems.js";

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

/** The definitions of the contexts, taken apart, to find which lines of an operation make it fail. */

/** An operation as the service answers it, and as the ledger needs it. */
export interface Definitions {
  /** What the service writes. */
  readonly answered: ContextDefinition;
  /** The same with all required that the choice on the ledger needs: credentials, and the holding that is locked. */
  readonly strict: ContextDefinition;
}

/** One line of an operation, as a definition that has only this line. */
export interface Line extends Definitions {
  /** The name of the entry or disclosure in the table. */
  readonly name: string;
}

export interface OperationLines<O extends Operation = Operation> extends Definitions {
  readonly operation: O;
  /** In the order in which they are written. */
  readonly lines: readonly Line[];
  /** The roles whose credentials the operation needs. */
  readonly roles: readonly Role[];
  /** Whether a party without these is refused. */
  readonly requiresCredentials: boolean;
}

export interface LinesByOperation {
  readonly factories: ReadonlyMap<FactoryOperation, OperationLines<FactoryOperation>>;
  readonly choices: ReadonlyMap<ChoiceOperation, OperationLines<ChoiceOperation>>;
  readonly packageVersions: PackageVersions;
}

export function linesByOperation({ factories, choices, table, packageVersions }: UtilityContexts): LinesByOperation {
  const byFactory = factoryOperations.map((name) => [name, linesOf(name, table[name], factories[name])] as const);
  // The record has exactly the names of its type.
  const byChoice = (Object.keys(choices) as ChoiceOperation[]).map(
    (name) => [name, linesOf(name, table[name], choices[name])] as const,
  );
  return { factories: new Map(byFactory), choices: new Map(byChoice), packageVersions };
}

/** `definition` is compiled from `row`, so their lines correspond. */
function linesOf<O extends Operation>(
  operation: O,
  row: OperationRow,
  definition: ContextDefinition,
): OperationLines<O> {
  const { refusesBlocklist, allowsMissing } = definition;
  const ofEntry = definition.entries.map((rule, index): Line => {
    const only = { entries: [rule], disclosures: [], refusesBlocklist, allowsMissing };
    return { name: row.entries[index]?.entry ?? "", answered: only, strict: { ...only, entries: [needed(rule)] } };
  });
  const disclosures = isExit(operation) ? definition.disclosures : definition.disclosures.map(needed);
  const ofDisclosure = definition.disclosures.map((rule, index): Line => {
    const only = { entries: [], disclosures: [rule], refusesBlocklist, allowsMissing };
    const strict = { ...only, disclosures: disclosures.slice(index, index + 1) };
    return { name: row.disclosures[index]?.disclosure ?? "", answered: only, strict };
  });
  const base = { operation, answered: definition };
  const requiring = definition.entries.filter(({ part }) => credentialRoles.has(part));
  // Where what is missing is left out, the ledger needs none of it.
  if (allowsMissing) {
    const lines = [...ofEntry, ...ofDisclosure].map(({ name, answered }) => ({ name, answered, strict: answered }));
    return { ...base, strict: definition, lines, roles: [], requiresCredentials: false };
  }
  return {
    ...base,
    strict: { ...definition, entries: definition.entries.map(needed), disclosures },
    lines: [...ofEntry, ...ofDisclosure],
    roles: [...new Set(requiring.flatMap(({ part }) => credentialRoles.get(part) ?? []))],
    requiresCredentials: requiring.some(({ required }) => required),
  };
}

/** The rule as the choice on the ledger has it, which needs credentials, and the holding that is locked. */
const needed = <R extends EntryRule | DisclosureRule>(rule: R): R =>
  credentialRoles.has(rule.part) || rule.part === lockedHoldingDisclosure
    ? { ...rule, required: true, requiredWhen: undefined }
    : rule;

const credentialRoles = new Map<unknown, Role>([
  [senderCredentialsEntry, "holder"],
  [receiverCredentialsEntry, "holder"],
  [holderCredentialsEntry, "holder"],
  [issuerCredentialsEntry, "issuer"],
]);
