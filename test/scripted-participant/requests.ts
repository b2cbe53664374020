/** Reads the JSON of requests by the published documents. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { refusal } from "./errors.js";
import type {
  ActiveContractsRequest,
  EventFormat,
  EventsRequest,
  Filters,
  IdentifierFilter,
  TransactionFormat,
  UpdateByIdRequest,
  UpdateByOffsetRequest,
  UpdateFormat,
  UpdatesRequest,
} from "./messages.js";

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

function readUpdateFormat(value: JsonValue | undefined, where: string): UpdateFormat {
  const { includeTransactions, includeReassignments } = object(value, where);
  return {
    ...given(
      "includeTransactions",
      optional(includeTransactions, `${where}.includeTransactions`, readTransactionFormat),
    ),
    ...given("includeReassignments", optional(includeReassignments, `${where}.includeReassignments`, readEventFormat)),
  };
}

const shapes = [
  "TRANSACTION_SHAPE_UNSPECIFIED",
  "TRANSACTION_SHAPE_ACS_DELTA",
  "TRANSACTION_SHAPE_LEDGER_EFFECTS",
] as const;

function readTransactionFormat(value: JsonValue, where: string): TransactionFormat {
  const { eventFormat, transactionShape } = object(value, where);
  const shape = shapes.find((known) => known === transactionShape);
  if (shape === undefined) throw new DecodingError([`${where}.transactionShape`, "Unrecognized enum value"]);
  return { eventFormat: readEventFormat(eventFormat, `${where}.eventFormat`), transactionShape: shape };
}

function readEventFormat(value: JsonValue | undefined, where: string): EventFormat {
  const { filtersByParty, filtersForAnyParty, verbose } = object(value, where);
  return {
    ...given("filtersByParty", optional(filtersByParty, `${where}.filtersByParty`, readFiltersByParty)),
    ...given("filtersForAnyParty", optional(filtersForAnyParty, `${where}.filtersForAnyParty`, readFilters)),
    ...given("verbose", optional(verbose, `${where}.verbose`, flag)),
  };
}

function readFiltersByParty(value: JsonValue, where: string): { [party: string]: Filters } {
  return Object.fromEntries(
    Object.entries(object(value, where)).map(([party, filters]) => [party, readFilters(filters, `${where}.${party}`)]),
  );
}

function readFilters(value: JsonValue, where: string): Filters {
  const { cumulative } = object(value, where);
  return given(
    "cumulative",
    optional(cumulative, `${where}.cumulative`, (list, inner) =>
      array(list, inner).map((one) =>
        given("identifierFilter", optional(object(one, inner).identifierFilter, inner, readIdentifierFilter)),
      ),
    ),
  );
}

function readIdentifierFilter(value: JsonValue, where: string): IdentifierFilter {
  const { TemplateFilter, WildcardFilter, InterfaceFilter, Empty } = object(value, where);
  if (TemplateFilter !== undefined) {
    const { templateId, includeCreatedEventBlob } = object(object(TemplateFilter, where).value, where);
    const blob = given("includeCreatedEventBlob", optional(includeCreatedEventBlob, where, flag));
    return { TemplateFilter: { value: { templateId: text(templateId, `${where}.templateId`), ...blob } } };
  }
  if (WildcardFilter !== undefined) {
    const { includeCreatedEventBlob } = object(object(WildcardFilter, where).value, where);
    return {
      WildcardFilter: { value: given("includeCreatedEventBlob", optional(includeCreatedEventBlob, where, flag)) },
    };
  }
  if (InterfaceFilter !== undefined) {
    const { interfaceId, includeInterfaceView, includeCreatedEventBlob } = object(
      object(InterfaceFilter, where).value,
      where,
    );
    const view = given("includeInterfaceView", optional(includeInterfaceView, where, flag));
    const blob = given("includeCreatedEventBlob", optional(includeCreatedEventBlob, where, flag));
    return { InterfaceFilter: { value: { interfaceId: text(interfaceId, `${where}.interfaceId`), ...view, ...blob } } };
  }
  if (Empty !== undefined) return { Empty: {} };
  throw new DecodingError([where, "JSON decoding to CNil should never happen"]);
}

export class DecodingError extends Error {
  /** All that is wrong, each with the path of its field. */
  constructor(...problems: readonly (readonly [where: string, problem: string])[]) {
    const listed = problems.map(([where, problem]) => (where === "" ? problem : `${problem} at '${where}'`));
    super(`Invalid value for: body (${listed.join(", ")})`);
    this.name = "DecodingError";
  }
}

const expected = (value: JsonValue | undefined, type: string): string =>
  value === undefined
    ? "Missing required field"
    : `Got value '${JSON.stringify(value)}' with wrong type, expecting ${type}`;

/** Throws for all fields that are absent. */
export function requireFields(value: JsonObject, names: readonly string[]): void {
  const missing = names.filter((name) => value[name] === undefined);
  if (missing.length > 0) throw new DecodingError(...missing.map((name) => [name, "Missing required field"] as const));
}

export function object(value: JsonValue | undefined, where: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new DecodingError([where, expected(value, "object")]);
}

export function text(value: JsonValue | undefined, where: string): string {
  if (typeof value === "string") return value;
  throw new DecodingError([where, expected(value, "string")]);
}

/** An offset: a JSON number, or its text. */
export function long(value: JsonValue | undefined, where: string): number {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new DecodingError([where, value === undefined ? "Missing required field" : "Long"]);
}

export function array(value: JsonValue | undefined, where: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new DecodingError([where, expected(value, "array")]);
}

export const texts = (value: JsonValue | undefined, where: string): string[] =>
  array(value, where).map((item) => text(item, `${where}[]`));

/** Decodes a value that may be absent or null. */
export function optional<T>(
  value: JsonValue | undefined,
  where: string,
  read: (value: JsonValue, where: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, where);
}

export function flag(value: JsonValue, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw new DecodingError([where, expected(value, "'true' or 'false'")]);
}

/** An object with one property, or empty if the value is undefined. For spreading. */
export function given<K extends string, T>(name: K, value: T | undefined): { [N in K]?: T } {
  const made: { [N in K]?: T } = {};
  if (value !== undefined) made[name] = value;
  return made;
}

export function parse(body: string): JsonValue {
  try {
    // JSON.parse returns JSON values only.
    return JSON.parse(body) as JsonValue;
  } catch {
    throw new DecodingError(["", "exhausted input"]);
  }
}
