/** What the elements of a participant's streams say: a snapshot of active contracts, and updates. */
import { errorMessage } from "../../util/logger.js";
import type { Change, StoredContract, CountedOnly } from "../../domain/contract.js";
import { type JsonObject, type JsonValue, parseLedgerTime } from "../../util/json.js";
import { type Decoder, rankOf } from "../decode.js";
import { fieldsOf, readReassignmentCounter, requireObject, requireString } from "../json-fields.js";
import { ViewFailure } from "../views.js";
import type { Ledger } from "./client.js";

export interface Unreadable {
  /** Undefined if the element does not say. */
  readonly contractId: string | undefined;
  readonly templateId: string | undefined;
  readonly reason: string;
  /** What another stream may have chosen otherwise, see ViewFailure. */
  readonly choice: string | undefined;
}

export interface Snapshot {
  readonly offset: number;
  readonly contracts: readonly (StoredContract | CountedOnly)[];
  readonly unreadable: readonly Unreadable[];
  /** Of unreadable contracts, that they exist. */
  readonly existing: readonly StoredContract[];
  /** How many were left out because none of our registrars has signed them; undefined where signatures do not matter. */
  readonly foreign: number | undefined;
}

/** Reads a snapshot. Stops early when `isCancelled`; the result is then incomplete. */
export async function takeSnapshot(
  ledger: Ledger,
  offset: number,
  decoder: Decoder,
  isCancelled: () => boolean,
): Promise<Snapshot> {
  decoder.begin();
  const contracts = new Map<string, StoredContract | CountedOnly>();
  const skipped: Unreadable[] = [];
  const existing = new Map<string, StoredContract>();
  for await (const element of ledger.activeContracts(offset)) {
    if (isCancelled()) break;
    try {
      const contract = decoder.decode(element);
      if (contract === undefined) continue;
      const earlier = contracts.get(contract.contractId);
      if (earlier === undefined || rankOf(contract) >= rankOf(earlier)) contracts.set(contract.contractId, contract);
    } catch (error) {
      const created = findCreatedEvent(element);
      skipped.push(unreadable(created, error));
      const exists = decoder.unreadable(created);
      if (exists !== undefined) existing.set(exists.contractId, exists);
    }
  }
  return {
    offset,
    contracts: [...contracts.values()],
    unreadable: skipped,
    existing: [...existing.values()].filter(({ contractId }) => !contracts.has(contractId)),
    foreign: decoder.foreign,
  };
}

/** The created event of an element, in any of its forms. Undefined if there is none. */
function findCreatedEvent(element: JsonValue): JsonValue | undefined {
  const [content] = Object.values(fieldsOf(fieldsOf(element).contractEntry));
  const { createdEvent, assignedEvent } = fieldsOf(content);
  return createdEvent ?? fieldsOf(assignedEvent).createdEvent;
}

export interface Update {
  readonly offset: number;
  /** Undefined if the element only moves the offset. */
  readonly updateId: string | undefined;
  /** Record time, in microseconds since 1970; undefined if it is missing or invalid. */
  readonly recorded: number | undefined;
  readonly changes: readonly Change[];
  /** Contracts of a known template that cannot be decoded. Of them `changes` has that they exist. */
  readonly unreadable: readonly Unreadable[];
}

/** Throws an Error that names the field if the element does not have the documented form. */
export function decodeUpdate(element: JsonValue, decoder: Decoder): Update {
  const [form, wrapped] =
    Object.entries(requireObject(requireObject(element, "the element").update, "update"))[0] ?? [];
  const value = requireObject(requireObject(wrapped, form ?? "update").value, "value");
  const offset = readOffset(value);
  switch (form) {
    case "OffsetCheckpoint":
    case "TopologyTransaction":
      return { offset, updateId: undefined, recorded: undefined, changes: [], unreadable: [] };
    case "Transaction":
    case "Reassignment": {
      const events = value.events;
      if (!Array.isArray(events)) throw new Error(`events of update ${offset} must be a list`);
      const changes: Change[] = [];
      const skipped: Unreadable[] = [];
      for (const event of events) {
        const change = decodeEvent(event, value, decoder, skipped);
        if (change !== undefined) changes.push(change);
      }
      const updateId = requireString(value, "updateId");
      return { offset, updateId, recorded: readRecordTime(value), changes, unreadable: skipped };
    }
    default:
      throw new Error(`update ${offset} must be a Transaction, Reassignment, OffsetCheckpoint or TopologyTransaction`);
  }
}

/** Whether an update shows a contract of one of the packages. An element that is not as documented shows none. */
export function showsContractOf(element: JsonValue, packageNames: readonly string[]): boolean {
  const [form] = Object.values(fieldsOf(fieldsOf(element).update));
  const { events } = fieldsOf(fieldsOf(form).value);
  return (Array.isArray(events) ? events : []).some((event) => {
    const { CreatedEvent: created, JsAssignmentEvent: assigned } = fieldsOf(event);
    const { packageName } = fieldsOf(created ?? fieldsOf(assigned).createdEvent);
    return typeof packageName === "string" && packageNames.includes(packageName);
  });
}

function decodeEvent(
  event: JsonValue,
  update: JsonObject,
  decoder: Decoder,
  skipped: Unreadable[],
): Change | undefined {
  const [form, value] = Object.entries(requireObject(event, "event"))[0] ?? [];
  const content = requireObject(value, form ?? "event");
  switch (form) {
    case "CreatedEvent":
      return decodeActive(content, requireString(update, "synchronizerId"), 0, decoder, skipped);
    case "JsAssignmentEvent": {
      const created = requireObject(content.createdEvent, "createdEvent");
      const counter = readReassignmentCounter(content);
      return decodeActive(created, requireString(content, "target"), counter, decoder, skipped);
    }
    case "ArchivedEvent":
      return { archived: requireString(content, "contractId") };
    case "JsUnassignedEvent": {
      const unassigned = requireObject(content.value, "value");
      const reassignmentCounter = readReassignmentCounter(unassigned);
      return { unassigned: requireString(unassigned, "contractId"), reassignmentCounter };
    }
    default:
      throw new Error(`an event of update ${readOffset(update)} has an unknown form: ${form ?? "none"}`);
  }
}

/** One contract that cannot be decoded does not fail the whole update. */
function decodeActive(
  created: JsonObject,
  synchronizerId: string,
  reassignmentCounter: number,
  decoder: Decoder,
  skipped: Unreadable[],
): Change | undefined {
  // Without an id the update itself is malformed.
  requireString(created, "contractId");
  try {
    const contract = decoder.decodeCreatedEvent(created, synchronizerId, reassignmentCounter);
    return contract === undefined ? undefined : { active: contract };
  } catch (error) {
    skipped.push(unreadable(created, error));
    const contract = decoder.unreadable(created, reassignmentCounter);
    return contract && { active: contract };
  }
}

/** The record time is informative: an invalid one does not fail the update. */
function readRecordTime({ recordTime }: JsonObject): number | undefined {
  try {
    return typeof recordTime === "string" ? parseLedgerTime(recordTime) : undefined;
  } catch {
    return undefined;
  }
}

function readOffset(value: JsonObject): number {
  const { offset } = value;
  if (typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new Error("the offset of an update must be a whole number");
}

/** What an error of a created event is about. */
function unreadable(created: JsonValue | undefined, error: unknown): Unreadable {
  const { contractId, templateId } = fieldsOf(created);
  const choice = error instanceof ViewFailure ? error.choice : undefined;
  return { contractId: textOf(contractId), templateId: textOf(templateId), reason: errorMessage(error), choice };
}

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === "string" ? value : undefined);
