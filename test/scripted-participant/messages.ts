/**
 * Names for the published types of the JSON Ledger API v2. WebSocket messages use the
 * types of the OpenAPI document too: those generated from the AsyncAPI document omit
 * the wrapper of each alternative (`Update` is the bare union, without
 * `{ Transaction: … }`) and type `createArgument` as `undefined`.
 */
import type { v3_5 } from "@canton-network/core-ledger-client-types";

type Schemas = v3_5.components["schemas"];

/** For an absent optional string. Canton sends null, where the published types and documents leave the field out. */
export const ABSENT = null as unknown as string;

export type CantonError = Schemas["JsCantonError"];

export type CreatedEvent = Schemas["CreatedEvent"];
export type ArchivedEvent = Schemas["ArchivedEvent"];
export type ExercisedEvent = Schemas["ExercisedEvent"];
export type AssignedEvent = Schemas["JsAssignedEvent"];
export type UnassignedEvent = Schemas["UnassignedEvent"];
export type TransactionEvent = Schemas["Event"];
export type ReassignmentEvent = Schemas["JsReassignmentEvent"];

export type ActiveContractsRequest = Schemas["GetActiveContractsRequest"];
export type ActiveContractsElement = Schemas["JsGetActiveContractsResponse"];
export type ContractEntry = Schemas["JsContractEntry"];

export type UpdatesRequest = Schemas["GetUpdatesRequest"];
export type UpdatesElement = Schemas["JsGetUpdatesResponse"];
export type Update = Schemas["Update"];

export type EventFormat = Schemas["EventFormat"];
export type Filters = Schemas["Filters"];
export type IdentifierFilter = Schemas["IdentifierFilter"];
export type UpdateFormat = Schemas["UpdateFormat"];
export type TransactionFormat = Schemas["TransactionFormat"];

export type PrunedOffsets = Schemas["GetLatestPrunedOffsetsResponse"];
export type PrepareResponse = Schemas["JsPrepareSubmissionResponse"];
export type EventsRequest = Schemas["GetEventsByContractIdRequest"];
export type EventsResponse = Schemas["JsGetEventsByContractIdResponse"];
export type UpdateByIdRequest = Schemas["GetUpdateByIdRequest"];
export type UpdateByOffsetRequest = Schemas["GetUpdateByOffsetRequest"];
export type UpdateResponse = Schemas["JsGetUpdateResponse"];
