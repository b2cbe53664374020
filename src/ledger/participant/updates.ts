/** Elements of a participant's update stream -> changes of the store. Pure. */
import type { Change } from "../../domain/change.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import { parseLedgerTime } from "../../domain/ledger-time.js";
import { counter, type Decoder, object, text } from "../decode.js";

/** What one element of the stream does. */
export interface Update {
  readonly offset: number;
  /** Undefined for what moves the offset alone. */
  readonly updateId: string | undefined;
  /** When the synchronizer recorded it, in microseconds since 1970; undefined where it does not say so. */
  readonly recorded: number | undefined;
  readonly changes: readonly Change[];
  /** Contracts of a known kind that cannot be read, and so are not kept. */
  readonly unreadable: readonly Unreadable[];
}

export interface Unreadable {
  readonly contractId: string;
  readonly reason: string;
}

/** Throws an Error that names the field where the element is not of the documented form. */
export function decodeUpdate(element: JsonValue, decoder: Decoder): Update {
  const [form, wrapped] = Object.entries(object(object(element, "the element").update, "update"))[0] ?? [];
  const value = object(object(wrapped, form ?? "update").value, "value");
  const offset = offsetOf(value);
  switch (form) {
    case "OffsetCheckpoint":
    case "TopologyTransaction":
      return { offset, updateId: undefined, recorded: undefined, changes: [], unreadable: [] };
    case "Transaction":
    case "Reassignment": {
      const events = value.events;
      if (!Array.isArray(events)) throw new Error(`events of update ${offset} has to be a list`);
      const changes: Change[] = [];
      const unreadable: Unreadable[] = [];
      for (const event of events) {
        const change = decodeEvent(event, value, decoder);
        if (change === undefined) continue;
        if ("reason" in change) unreadable.push(change);
        else changes.push(change);
      }
      return { offset, updateId: text(value, "updateId"), recorded: recordedAt(value), changes, unreadable };
    }
    default:
      throw new Error(
        `update ${offset} has to be a Transaction, Reassignment, OffsetCheckpoint or TopologyTransaction`,
      );
  }
}

function decodeEvent(event: JsonValue, update: JsonObject, decoder: Decoder): Change | Unreadable | undefined {
  const [form, value] = Object.entries(object(event, "event"))[0] ?? [];
  const content = object(value, form ?? "event");
  switch (form) {
    case "CreatedEvent":
      return active(content, text(update, "synchronizerId"), 0, decoder);
    case "JsAssignmentEvent":
      return active(object(content.createdEvent, "createdEvent"), text(content, "target"), counter(content), decoder);
    case "ArchivedEvent":
      return { archived: text(content, "contractId") };
    case "JsUnassignedEvent": {
      const unassigned = object(content.value, "value");
      return { unassigned: text(unassigned, "contractId"), reassignmentCounter: counter(unassigned) };
    }
    default:
      throw new Error(`an event of update ${offsetOf(update)} is of no known form: ${form ?? "none"}`);
  }
}

/** A contract that its kind cannot read is told apart from an update that cannot be read at all. */
function active(
  created: JsonObject,
  synchronizerId: string,
  reassignmentCounter: number,
  decoder: Decoder,
): Change | Unreadable | undefined {
  const contractId = text(created, "contractId");
  try {
    const contract = decoder.contract(created, synchronizerId, reassignmentCounter);
    return contract === undefined ? undefined : { active: contract };
  } catch (error) {
    return { contractId, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A time that cannot be read is no reason to do without the update. */
function recordedAt({ recordTime }: JsonObject): number | undefined {
  try {
    return typeof recordTime === "string" ? parseLedgerTime(recordTime) : undefined;
  } catch {
    return undefined;
  }
}

function offsetOf(value: JsonObject): number {
  const { offset } = value;
  if (typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new Error("the offset of an update has to be a whole number");
}
