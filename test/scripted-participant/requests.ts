import type { JsonValue } from "../../src/domain/json.js";
import { refusal } from "./errors.js";
import { readEventFormat, readUpdateFormat } from "./formats.js";
import type {
  ActiveContractsRequest,
  EventsRequest,
  UpdateByIdRequest,
  UpdateByOffsetRequest,
  UpdatesRequest,
} from "./messages.js";
import { flag, given, long, object, optional, text } from "./json-decoding.js";

export function activeContractsRequest(body: JsonValue): ActiveContractsRequest {
  const { activeAtOffset, eventFormat } = object(body, "");
  return {
    // Required by the published document, and 0 by default on the recorded participant.
    activeAtOffset: optional(activeAtOffset, "activeAtOffset", offset) ?? 0,
    ...given("eventFormat", optional(eventFormat, "eventFormat", readEventFormat)),
  };
}

export function updatesRequest(body: JsonValue): UpdatesRequest {
  const { beginExclusive, endInclusive, updateFormat, descendingOrder } = object(body, "");
  if (optional(descendingOrder, "descendingOrder", flag) === true) {
    throw refusal("INVALID_ARGUMENT", "the participant for tests knows no descending order");
  }
  return {
    // Required by the published document, and 0 by default on the recorded participant.
    beginExclusive: optional(beginExclusive, "beginExclusive", offset) ?? 0,
    ...given("endInclusive", optional(endInclusive, "endInclusive", offset)),
    ...given("updateFormat", optional(updateFormat, "updateFormat", readUpdateFormat)),
  };
}

export function eventsRequest(body: JsonValue): EventsRequest {
  const { contractId, eventFormat } = object(body, "");
  const id = text(contractId, "contractId");
  if (eventFormat === undefined) {
    throw refusal("MISSING_FIELD", "The submitted command is missing a mandatory field: event_format");
  }
  return { contractId: id, eventFormat: readEventFormat(eventFormat, "eventFormat") };
}

export function updateByIdRequest(body: JsonValue): UpdateByIdRequest {
  const { updateId, updateFormat } = object(body, "");
  const id = text(updateId, "updateId");
  // An id is a hash. Any other form is rejected without a lookup.
  if (!/^[\w#:\-/ ]{1,255}$/.test(id)) throw refusal("INVALID_FIELD", `Invalid field update_id: ${id}`);
  if (!/^1220[0-9a-fA-F]{64}$/.test(id)) throw refusal("INVALID_ARGUMENT", `Failed to parse update id: ${id}`);
  return { updateId: id, updateFormat: readUpdateFormat(updateFormat, "updateFormat") };
}

export function updateByOffsetRequest(body: JsonValue): UpdateByOffsetRequest {
  const { offset: asked, updateFormat } = object(body, "");
  const number = long(asked, "offset");
  if (number <= 0) throw refusal("NON_POSITIVE_OFFSET", `Offset ${number} in offset is not a positive integer`);
  return { offset: number, updateFormat: readUpdateFormat(updateFormat, "updateFormat") };
}

function offset(value: JsonValue | undefined, where: string): number {
  const number = long(value, where);
  if (number < 0) throw refusal("NEGATIVE_OFFSET", `Offset ${number} in ${where} is a negative integer`);
  return number;
}
