/** Recordings of deployed registries and of a real participant: recordings/README.md says where they come from. */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import type { JsonObject, JsonValue } from "../../src/util/json.js";

const folder = new URL("./recordings/", import.meta.url);

/** One answer of a deployed registry, reduced to what is compared. */
export interface RecordedAnswer {
  /** The path below `registry/` or, for utility operations, below `/api/utilities/v0/`. */
  readonly operation: string;
  /** Of the Registry App. */
  readonly release: string;
  readonly source: string;
  /** The kind of transfer; absent for other operations. */
  readonly transferKind?: string;
  /** Keys of `choiceContextData.values`. */
  readonly keys: readonly string[];
  /** `Module:Entity` of disclosed contracts; absent where the recording does not show them. */
  readonly disclosed?: readonly string[];
  /** Values of some keys. */
  readonly values?: JsonObject;
  /** Keys that the recorded context does not have. */
  readonly absent?: readonly string[];
}

export const recordedAnswers = (): readonly RecordedAnswer[] => read("answers.json") as RecordedAnswer[];

/** A transaction in the shape TRANSACTION_SHAPE_LEDGER_EFFECTS. */
export interface Transaction {
  readonly updateId: string;
  readonly offset: number;
  readonly effectiveAt: string;
  readonly synchronizerId: string;
  readonly events: readonly TransactionEvent[];
}

export interface TransactionEvent {
  readonly CreatedEvent?: CreatedEvent;
  readonly ExercisedEvent?: ExercisedEvent;
}

export type CreatedEvent = JsonObject & {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly createdAt: string;
  readonly createArgument: JsonObject;
};

export type ExercisedEvent = JsonObject & {
  readonly nodeId: number;
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly choice: string;
  readonly choiceArgument: JsonObject;
  readonly exerciseResult: JsonObject;
  readonly consuming: boolean;
};

/** An update, as a stream delivers it and as a look-up by id answers. */
export type RecordedUpdate = JsonObject & {
  readonly update: { readonly Transaction: { readonly value: JsonObject & Transaction } };
};

export const transactionOf = ({ update }: RecordedUpdate): Transaction => update.Transaction.value;

export interface HttpExchange {
  readonly name: string;
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  /** Null if the request has no body. */
  readonly request: JsonValue;
  readonly status: number;
  readonly contentType: string;
  /** JSON, or text if the content type is not JSON. */
  readonly response: JsonValue;
}

export interface StreamExchange {
  readonly name: string;
  readonly path: string;
  readonly request: JsonValue;
  /** What the participant selected. */
  readonly subprotocol: string;
  readonly messages: readonly JsonValue[];
  /** 1006: the connection ended without a close frame. */
  readonly close: { readonly code: number; readonly reason: string };
}

/** What a real participant answered. */
export interface ParticipantRecording {
  readonly http: readonly HttpExchange[];
  readonly ws: readonly StreamExchange[];
}

export const participantRecording = (): ParticipantRecording =>
  read("participant-3.5-recorded.json") as ParticipantRecording;

/** One case of the wire of a real participant. Long texts, lists and tokens are cut. */
export interface WireCase {
  readonly case: string;
  readonly request: JsonObject | null;
  readonly response: JsonValue;
}

export const wireRecording = (): readonly WireCase[] => read("participant-3.5-wire.json") as WireCase[];

/** The exchange of that name. */
export function exchange<T extends { readonly name: string }>(exchanges: readonly T[], name: string): T {
  const found = exchanges.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no exchange is named "${name}"`);
  return found;
}

/** The content of a recording, by the name of its original. */
export function read(file: string): unknown {
  return JSON.parse(brotliDecompressSync(readFileSync(new URL(`${file}.br`, folder))).toString());
}
