/** Looks up single things in the log: the events of a contract, an update. Both end with a Refusal where there is none. */
import { refusal } from "./errors.js";
import { archivedEvent, createdEvent } from "./events.js";
import type { Filter } from "./filters.js";
import type { Log } from "./log.js";
import type { EventsResponse, UpdateResponse } from "./messages.js";
import type { View } from "./updates.js";

/** The creation of a contract and, if it has been archived, that: until it is pruned, archived contracts answer too. */
export function eventsOf(log: Log, contractId: string, filter: Filter): EventsResponse {
  const response: EventsResponse = {};
  for (const { offset, synchronizerId, changes } of log.between(0)) {
    for (const { contract, nodeId, did } of changes) {
      const sight = contract.contractId === contractId ? filter(contract) : undefined;
      if (sight === undefined) continue;
      const place = { offset, nodeId };
      // What has entered from afar was created, as far as this participant knows, by its assignment.
      const isFirst = did === "create" || (did === "assign" && response.created === undefined);
      if (isFirst) response.created = { createdEvent: createdEvent(contract, place, sight), synchronizerId };
      if (did === "archive") {
        response.archived = { archivedEvent: archivedEvent(contract, place, sight), synchronizerId };
      }
    }
  }
  const isPruned = (response.archived?.archivedEvent.offset ?? Number.POSITIVE_INFINITY) <= log.pruned;
  if (response.created === undefined || isPruned) {
    throw refusal(
      "CONTRACT_EVENTS_NOT_FOUND",
      `Contract events not found, or not visible, for contract id ${contractId}.`,
    );
  }
  return response;
}

/** An update by its id or its offset. A checkpoint is none, and what is pruned is as if it had never been. */
export function updateOf(log: Log, which: string | number, view: View): UpdateResponse {
  const entry = log
    .between(log.pruned)
    .find((one) => (one.updateId === which || one.offset === which) && one.form !== "checkpoint");
  const update = entry && view(entry);
  if (update === undefined) throw refusal("UPDATE_NOT_FOUND", `Update not found, or not visible: ${which}`);
  return { update };
}
