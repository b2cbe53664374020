/** Converts log entries into updates and snapshots of the API. */
import { refusal } from "./errors.js";
import {
  assignedEvent,
  createdEvent,
  deltaEvents,
  effectEvents,
  type EventPosition,
  type Filter,
  filterOf,
  type Packages,
  reassignmentEvents,
  unassignedEvent,
} from "./events.js";
import type { Contract, Entry, Reassignment } from "./log.js";
import {
  ABSENT,
  type ActiveContractsElement,
  type ContractEntry,
  type TransactionEvent,
  type Update,
  type UpdateFormat,
} from "./messages.js";

/** Converts an entry into an update; undefined if it is not shown. */
export type View = (entry: Entry) => Update | undefined;

/**
 * Converts an update format into a view. Updates without events that pass the filter are not shown. Throws a Refusal if
 * the transaction shape is unspecified.
 */
export function viewOf(format: UpdateFormat, packages?: Packages): View {
  const { includeTransactions, includeReassignments } = format;
  const shape = includeTransactions?.transactionShape;
  if (shape === "TRANSACTION_SHAPE_UNSPECIFIED") {
    throw refusal("MISSING_FIELD", "The submitted command is missing a mandatory field: transaction_shape");
  }
  const eventsOf = shape === "TRANSACTION_SHAPE_LEDGER_EFFECTS" ? effectEvents : deltaEvents;
  const transactions = includeTransactions && filterOf(includeTransactions.eventFormat, packages);
  const reassignments = includeReassignments && filterOf(includeReassignments, packages);
  return (entry) => {
    switch (entry.form) {
      case "transaction":
        return transactions && transactionOf(entry, eventsOf(entry, transactions));
      case "reassignment":
        return reassignments && reassignmentOf(entry, reassignments);
      case "checkpoint":
        return checkpoint(entry);
      // No format here asks for topology events.
      case "topology":
        return undefined;
    }
  };
}

/** What transactions and reassignments have in common. */
const commonOf = ({ updateId, offset, synchronizerId, time }: Entry) => ({
  updateId,
  commandId: "",
  workflowId: "",
  offset,
  synchronizerId,
  traceContext,
  recordTime: time,
  paidTrafficCost: 0,
});

function transactionOf(entry: Entry, events: TransactionEvent[]): Update | undefined {
  if (events.length === 0) return undefined;
  const value = { ...commonOf(entry), effectiveAt: entry.time, events, externalTransactionHash: ABSENT };
  return { Transaction: { value } };
}

function reassignmentOf(entry: Entry, filter: Filter): Update | undefined {
  const events = reassignmentEvents(entry, filter);
  return events.length === 0 ? undefined : { Reassignment: { value: { ...commonOf(entry), events } } };
}

/** The checkpoint of the last offset that an entry took. */
export function checkpoint({ lastOffset: offset, synchronizerId, time }: Entry): Update {
  return { OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId, recordTime: time }] } } };
}

const traceContext = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: ABSENT,
};

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
