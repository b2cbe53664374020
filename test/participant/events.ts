/** Entries of the ledger -> events as they go over the wire. */
import type { Contract, Entry, Reassignment } from "./entries.js";
import type { Filter, Sight } from "./filters.js";
import type {
  ArchivedEvent,
  AssignedEvent,
  CreatedEvent,
  ReassignmentEvent,
  TransactionEvent,
  UnassignedEvent,
} from "./messages.js";

/** Where in the ledger an event stands. */
export interface Place {
  readonly offset: number;
  readonly nodeId: number;
}

export function createdEvent(contract: Contract, { offset, nodeId }: Place, sight: Sight): CreatedEvent {
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
    acsDelta: true,
  };
}

export function archivedEvent(contract: Contract, { offset, nodeId }: Place, sight: Sight): ArchivedEvent {
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
  place: Place,
  sight: Sight,
): AssignedEvent & { submitter: string } {
  return {
    source,
    target,
    reassignmentId: id,
    submitter: contract.signatories[0] ?? "",
    reassignmentCounter: counter,
    createdEvent: createdEvent(contract, place, sight),
  };
}

export function unassignedEvent(
  contract: Contract,
  { id, source, target, counter }: Reassignment,
  { offset, nodeId }: Place,
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

/** The events of a transaction that a filter lets through. */
export function transactionEvents({ offset, changes }: Entry, filter: Filter): TransactionEvent[] {
  return changes.flatMap((change): TransactionEvent[] => {
    const { contract, nodeId } = change;
    const sight = filter(contract);
    if (sight === undefined) return [];
    if (change.did === "create") return [{ CreatedEvent: createdEvent(contract, { offset, nodeId }, sight) }];
    return [{ ArchivedEvent: archivedEvent(contract, { offset, nodeId }, sight) }];
  });
}

/** The events of a reassignment that a filter lets through. */
export function reassignmentEvents({ offset, changes }: Entry, filter: Filter): ReassignmentEvent[] {
  return changes.flatMap((change): ReassignmentEvent[] => {
    const { contract, nodeId } = change;
    const sight = filter(contract);
    if (sight === undefined || !("reassignment" in change)) return [];
    const { did, reassignment } = change;
    if (did === "assign") {
      return [{ JsAssignmentEvent: assignedEvent(contract, reassignment, { offset, nodeId }, sight) }];
    }
    return [{ JsUnassignedEvent: { value: unassignedEvent(contract, reassignment, { offset, nodeId }, sight) } }];
  });
}

const packageIdOf = ({ templateId }: Contract): string => templateId.split(":")[0] ?? "";
