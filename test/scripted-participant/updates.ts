/** Converts log entries into updates of the API. */
import type { Entry } from "./entries.js";
import { refusal } from "./errors.js";
import { deltaEvents, effectEvents, reassignmentEvents } from "./events.js";
import { type Filter, filterOf } from "./filters.js";
import {
  ABSENT,
  type Reassignment,
  type TopologyTransaction,
  type Transaction,
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
export function viewOf(format: UpdateFormat, packageNames?: ReadonlySet<string>): View {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format;
  const shape = includeTransactions?.transactionShape;
  if (shape === "TRANSACTION_SHAPE_UNSPECIFIED") {
    throw refusal("MISSING_FIELD", "The submitted command is missing a mandatory field: transaction_shape");
  }
  const eventsOf = shape === "TRANSACTION_SHAPE_LEDGER_EFFECTS" ? effectEvents : deltaEvents;
  const transactions = includeTransactions && filterOf(includeTransactions.eventFormat, packageNames);
  const reassignments = includeReassignments && filterOf(includeReassignments, packageNames);
  const authorizations = includeTopologyEvents?.includeParticipantAuthorizationEvents;
  return (entry) => {
    switch (entry.form) {
      case "transaction":
        return transactions && transaction(entry, eventsOf(entry, transactions));
      case "reassignment":
        return reassignments && reassignment(entry, reassignments);
      case "checkpoint":
        return checkpoint(entry);
      case "topology": {
        const { parties = [] } = authorizations ?? {};
        const isAsked = authorizations !== undefined && (parties.length === 0 || parties.includes(entry.party ?? ""));
        return isAsked ? topology(entry) : undefined;
      }
    }
  };
}

function transaction(entry: Entry, events: TransactionEvent[]): Update | undefined {
  if (events.length === 0) return undefined;
  const { updateId, offset, synchronizerId, time } = entry;
  const value: Transaction = {
    updateId,
    commandId: "",
    workflowId: "",
    effectiveAt: time,
    events,
    offset,
    synchronizerId,
    traceContext,
    recordTime: time,
    externalTransactionHash: ABSENT,
    paidTrafficCost: 0,
  };
  return { Transaction: { value } };
}

function reassignment(entry: Entry, filter: Filter): Update | undefined {
  const events = reassignmentEvents(entry, filter);
  if (events.length === 0) return undefined;
  const { updateId, offset, synchronizerId, time } = entry;
  const value: Reassignment = {
    updateId,
    commandId: "",
    workflowId: "",
    offset,
    events,
    traceContext,
    recordTime: time,
    synchronizerId,
    paidTrafficCost: 0,
  };
  return { Reassignment: { value } };
}

/** The checkpoint of the last offset that an entry took. */
export function checkpoint({ lastOffset: offset, synchronizerId, time }: Entry): Update {
  return { OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId, recordTime: time }] } } };
}

function topology({ updateId, offset, synchronizerId, time, party = "" }: Entry): Update {
  const value: TopologyTransaction = {
    updateId,
    offset,
    synchronizerId,
    recordTime: time,
    events: [
      {
        event: {
          ParticipantAuthorizationAdded: {
            value: {
              partyId: party,
              participantId: `PAR::${party}`,
              participantPermission: "PARTICIPANT_PERMISSION_OBSERVATION",
            },
          },
        },
      },
    ],
    traceContext,
  };
  return { TopologyTransaction: { value } };
}

const traceContext = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: ABSENT,
};
