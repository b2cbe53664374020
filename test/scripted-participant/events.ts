/** Converts log entries into events of the API. */
import type { Contract, Entry, Exercised, Reassignment } from "./entries.js";
import type { Filter, Sight } from "./filters.js";
import {
  ABSENT,
  type ArchivedEvent,
  type AssignedEvent,
  type CreatedEvent,
  type ExercisedEvent,
  type ReassignmentEvent,
  type TransactionEvent,
  type UnassignedEvent,
} from "./messages.js";

export interface EventPosition {
  readonly offset: number;
  readonly nodeId: number;
}

export function createdEvent(
  contract: Contract,
  { offset, nodeId }: EventPosition,
  sight: Sight,
  acsDelta = true,
): CreatedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    contractKey: null,
    contractKeyHash: "",
    createArgument: contract.payload,
    createdEventBlob: sight.withBlob ? contract.createdEventBlob : "",
    interfaceViews: [],
    witnessParties: sight.witnesses,
    signatories: [...contract.signatories],
    observers: [...contract.observers],
    createdAt: contract.createdAt,
    packageName: contract.packageName,
    representativePackageId: packageIdOf(contract),
    acsDelta,
  };
}

export function archivedEvent(contract: Contract, { offset, nodeId }: EventPosition, sight: Sight): ArchivedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    witnessParties: sight.witnesses,
    packageName: contract.packageName,
    implementedInterfaces: [],
  };
}

export function assignedEvent(
  contract: Contract,
  { id, source, target, counter }: Reassignment,
  position: EventPosition,
  sight: Sight,
): AssignedEvent & { submitter: string } {
  return {
    source,
    target,
    reassignmentId: id,
    submitter: contract.signatories[0] ?? "",
    reassignmentCounter: counter,
    createdEvent: createdEvent(contract, position, sight),
  };
}

export function unassignedEvent(
  contract: Contract,
  { id, source, target, counter }: Reassignment,
  { offset, nodeId }: EventPosition,
  sight: Sight,
): UnassignedEvent {
  return {
    reassignmentId: id,
    contractId: contract.contractId,
    templateId: contract.templateId,
    source,
    target,
    submitter: contract.signatories[0] ?? "",
    reassignmentCounter: counter,
    witnessParties: sight.witnesses,
    packageName: contract.packageName,
    offset,
    nodeId,
  };
}

function exercisedEvent(
  contract: Contract,
  { choice, argument, result, actors, lastNodeId }: Exercised,
  { offset, nodeId }: EventPosition,
  { witnesses }: Sight,
  { consuming, acsDelta }: { readonly consuming: boolean; readonly acsDelta: boolean },
): ExercisedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    interfaceId: ABSENT,
    choice,
    choiceArgument: argument,
    actingParties: actors.length === 0 ? contract.signatories.slice(0, 1) : [...actors],
    consuming,
    witnessParties: witnesses,
    lastDescendantNodeId: lastNodeId,
    exerciseResult: result,
    packageName: contract.packageName,
    implementedInterfaces: [],
    acsDelta,
  };
}

/** The filtered events of a transaction in the shape ACS delta. */
export function deltaEvents({ offset, changes }: Entry, filter: Filter): TransactionEvent[] {
  return changes.flatMap((change): TransactionEvent[] => {
    const { contract, nodeId, type } = change;
    const sight = filter(contract);
    const isVisible = "isTransient" in change && !change.isTransient;
    if (sight === undefined || !isVisible || type === "exercise") return [];
    if (type === "create") return [{ CreatedEvent: createdEvent(contract, { offset, nodeId }, sight) }];
    return [{ ArchivedEvent: archivedEvent(contract, { offset, nodeId }, sight) }];
  });
}

/** The filtered events of a transaction in the shape ledger effects: all choices and transient contracts. */
export function effectEvents({ offset, changes }: Entry, filter: Filter): TransactionEvent[] {
  return changes.flatMap((change): TransactionEvent[] => {
    if (!("seenBy" in change)) return [];
    const { contract, nodeId, seenBy, isTransient } = change;
    const sight = filter(contract, seenBy);
    if (sight === undefined) return [];
    const position = { offset, nodeId };
    // A party that is no stakeholder is a witness without an ACS delta.
    const acsDelta = !isTransient && filter(contract) !== undefined;
    if (change.type === "create") return [{ CreatedEvent: createdEvent(contract, position, sight, acsDelta) }];
    const consuming = change.type === "archive";
    const flags = { consuming, acsDelta: consuming && acsDelta };
    return [{ ExercisedEvent: exercisedEvent(contract, change.exercised, position, sight, flags) }];
  });
}

export function reassignmentEvents({ offset, changes }: Entry, filter: Filter): ReassignmentEvent[] {
  return changes.flatMap((change): ReassignmentEvent[] => {
    const { contract, nodeId } = change;
    const sight = filter(contract);
    if (sight === undefined || !("reassignment" in change)) return [];
    const { type, reassignment } = change;
    if (type === "assign") {
      return [{ JsAssignmentEvent: assignedEvent(contract, reassignment, { offset, nodeId }, sight) }];
    }
    return [{ JsUnassignedEvent: { value: unassignedEvent(contract, reassignment, { offset, nodeId }, sight) } }];
  });
}

const packageIdOf = ({ templateId }: Contract): string => templateId.split(":")[0] ?? "";
