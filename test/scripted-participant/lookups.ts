/** Looks up the events of a contract, or one update. Throws a Refusal if there is none. */
import { refusal } from "./errors.js";
import { archivedEvent, createdEvent } from "./events.js";
import type { Filter } from "./filters.js";
import type { UpdateLog } from "./update-log.js";
import type { EventsResponse, UpdateResponse } from "./messages.js";
import type { View } from "./updates.js";

/** The creation of a contract and its archival, if any. Archived contracts are found until they are pruned. */
export function eventsOf(log: UpdateLog, contractId: string, filter: Filter): EventsResponse {
  const response: EventsResponse = {};
  for (const { offset, synchronizerId, changes } of log.between(0)) {
    for (const { contract, nodeId, type } of changes) {
      const sight = contract.contractId === contractId ? filter(contract) : undefined;
      if (sight === undefined) continue;
      const position = { offset, nodeId };
      // For a contract from an unconnected synchronizer the assignment counts as its creation.
      const isFirst = type === "create" || (type === "assign" && response.created === undefined);
      if (isFirst) response.created = { createdEvent: createdEvent(contract, position, sight), synchronizerId };
      if (type === "archive") {
        response.archived = { archivedEvent: archivedEvent(contract, position, sight), synchronizerId };
      }
    }
  }
  const isPruned = (response.archived?.archivedEvent.offset ?? Number.POSITIVE_INFINITY) <= log.pruned;
  if (response.created === undefined || isPruned) {
    throw refusal(
      "CONTRACT_EVENTS_NOT_FOUND",
      `Contract events not found, or not visible, for contract id ${contractId}.`,
      { resources: [["ErrorResource(CONTRACT_ID)", contractId]] },
    );
  }
  return response;
}

/** An update by its id or its offset. Checkpoints and pruned updates are not found. */
export function updateOf(log: UpdateLog, which: string | number, view: View): UpdateResponse {
  const entry = log
    .between(log.pruned)
    .find((one) => (one.updateId === which || one.offset === which) && one.form !== "checkpoint");
  const update = entry && view(entry);
  if (update === undefined) {
    const resource = typeof which === "string" ? "ErrorResource(UPDATE_ID)" : "ErrorResource(OFFSET)";
    throw refusal("UPDATE_NOT_FOUND", "Update not found, or not visible.", { resources: [[resource, String(which)]] });
  }
  return { update };
}
