import type { JsonValue } from "../../src/domain/json.js";
import type {
  EventFormat,
  Filters,
  IdentifierFilter,
  TopologyFormat,
  TransactionFormat,
  UpdateFormat,
} from "./messages.js";
import { array, flag, given, object, optional, text, DecodingError } from "./json-decoding.js";

export function readUpdateFormat(value: JsonValue | undefined, where: string): UpdateFormat {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = object(value, where);
  return {
    ...given(
      "includeTransactions",
      optional(includeTransactions, `${where}.includeTransactions`, readTransactionFormat),
    ),
    ...given("includeReassignments", optional(includeReassignments, `${where}.includeReassignments`, readEventFormat)),
    ...given(
      "includeTopologyEvents",
      optional(includeTopologyEvents, `${where}.includeTopologyEvents`, readTopologyFormat),
    ),
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

function readTopologyFormat(value: JsonValue, where: string): TopologyFormat {
  const events = object(value, where).includeParticipantAuthorizationEvents;
  return given(
    "includeParticipantAuthorizationEvents",
    optional(events, where, (inner) =>
      given(
        "parties",
        optional(object(inner, where).parties, where, (list) => array(list, where).map((one) => text(one, where))),
      ),
    ),
  );
}

export function readEventFormat(value: JsonValue | undefined, where: string): EventFormat {
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
    const { interfaceId } = object(object(InterfaceFilter, where).value, where);
    return { InterfaceFilter: { value: { interfaceId: text(interfaceId, `${where}.interfaceId`) } } };
  }
  if (Empty !== undefined) return { Empty: {} };
  throw new DecodingError([where, "JSON decoding to CNil should never happen"]);
}
