/** Computes the elements of active-contracts at an offset. */
import type { Contract, Entry, Reassignment } from "./entries.js";
import { assignedEvent, createdEvent, type EventPosition, unassignedEvent } from "./events.js";
import type { Filter } from "./filters.js";
import type { ActiveContractsElement, ContractEntry } from "./messages.js";

/** The state of a contract on one synchronizer after an event. */
interface Standing {
  readonly contract: Contract;
  readonly position: EventPosition;
  readonly synchronizerId: string;
  readonly counter: number;
}

interface Incomplete {
  readonly contract: Contract;
  readonly position: EventPosition;
  readonly reassignment: Reassignment;
  /** For an unassigned contract: its state before. */
  readonly before: Standing | undefined;
}

/**
 * The elements after all these entries. A contract may have several: one that is
 * assigned before its unassignment is active on both synchronizers, and incompletely
 * assigned as well.
 */
export function* snapshot(entries: Iterable<Entry>, filter: Filter): Generator<ActiveContractsElement> {
  const { active, leaving, arriving } = stateAfter(entries);
  for (const { contract, position, synchronizerId, counter } of active.values()) {
    const sight = filter(contract);
    if (sight === undefined) continue;
    const event = createdEvent(contract, position, sight);
    yield element({ JsActiveContract: { createdEvent: event, synchronizerId, reassignmentCounter: counter } });
  }
  for (const { contract, position, reassignment, before } of leaving.values()) {
    const sight = filter(contract);
    if (sight === undefined) continue;
    const event = createdEvent(contract, before?.position ?? position, sight);
    const left = unassignedEvent(contract, reassignment, position, sight);
    yield element({ JsIncompleteUnassigned: { createdEvent: event, unassignedEvent: left } });
  }
  for (const { contract, position, reassignment } of arriving.values()) {
    const sight = filter(contract);
    if (sight === undefined) continue;
    yield element({ JsIncompleteAssigned: { assignedEvent: assignedEvent(contract, reassignment, position, sight) } });
  }
}

/** Opaque to clients: one that continues a stream, which no client here does. */
const streamContinuationToken = "CgIIAA==";

const element = (contractEntry: ContractEntry): ActiveContractsElement => ({
  workflowId: "",
  contractEntry,
  streamContinuationToken,
});

function stateAfter(entries: Iterable<Entry>) {
  const active = new Map<string, Standing>();
  const leaving = new Map<string, Incomplete>();
  const arriving = new Map<string, Incomplete>();
  for (const { offset, synchronizerId, changes } of entries) {
    for (const change of changes) {
      const { contract, nodeId } = change;
      const position: EventPosition = { offset, nodeId };
      const key = `${contract.contractId} ${synchronizerId}`;
      if (change.type === "create") active.set(key, { contract, position, synchronizerId, counter: 0 });
      else if (change.type === "archive") active.delete(key);
      else if ("reassignment" in change) {
        const { type, reassignment } = change;
        const { id, counter, fromAfar } = reassignment;
        const before = active.get(key);
        if (type === "assign") active.set(key, { contract, position, synchronizerId, counter });
        else active.delete(key);
        const [own, other] = type === "assign" ? [arriving, leaving] : [leaving, arriving];
        if (!other.delete(id) && !fromAfar) own.set(id, { contract, position, reassignment, before });
      }
    }
  }
  return { active, leaving, arriving };
}
