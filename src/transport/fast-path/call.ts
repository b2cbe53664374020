/** Runs steps 3 to 6; steps 4 and 5 are here: call the operation, encode its response. */
import type { IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";
import { isNotModified } from "../caching/conditional.js";
import { validatorFields } from "../caching/validators.js";
import type { Incoming } from "../drain-body.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { Operation } from "../operations.js";
import { recordRefusal } from "../errors.js";

export interface FastCall {
  readonly operation: Operation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Whether the server compresses responses for clients that accept it. */
  readonly compresses: boolean;
}

export interface WireFormat {
  readonly protocol: Protocol;
  /** Bytes around the message, by which a body may exceed the limit on messages. */
  readonly framingBytes: number;
  /** Where the body is read from. */
  readonly source: (request: IncomingMessage) => Incoming;
  /** Throws where the body is not a message of the operation of at most `maxBytes`. */
  readonly decode: (call: FastCall, body: Buffer, maxBytes: number) => Message;
  readonly encode: (response: EncodableResponse) => ChunkList;
  /** `fields` are further headers, names and values in turn. They are the sender's to change. */
  readonly send: (call: FastCall, message: ChunkList, fields: string[]) => void;
  /** The header of a conditional request, and the response to one that the client has. */
  readonly condition: string;
  readonly sendNotModified: (call: FastCall, response: EncodableResponse, fields: string[]) => void;
  readonly sendError: (call: FastCall, error: unknown) => void;
}

/** Calls the operation. Stays synchronous where the operation is: a promise costs more than the query. */
export function callOperation(call: FastCall, format: WireFormat, body: Buffer, maxBytes: number): void {
  let response: EncodableResponse | Promise<EncodableResponse>;
  try {
    response = call.operation.call(format.decode(call, body, maxBytes));
  } catch (error) {
    fail(call, format, error);
    return;
  }
  if (response instanceof Promise) void sendLater(call, format, response);
  else sendResponse(call, format, response);
}

function sendResponse(call: FastCall, format: WireFormat, response: EncodableResponse): void {
  const condition = call.request.raw.headers[format.condition];
  let message: ChunkList | undefined;
  let fields: string[];
  try {
    fields = validatorFields(response);
    if (!isNotModified(response, condition)) message = format.encode(response);
  } catch (error) {
    fail(call, format, error);
    return;
  }
  if (message !== undefined) format.send(call, message, fields);
  else {
    call.request.record.isNotModified = true;
    format.sendNotModified(call, response, fields);
  }
}

async function sendLater(call: FastCall, format: WireFormat, response: Promise<EncodableResponse>): Promise<void> {
  let arrived: EncodableResponse;
  try {
    arrived = await response;
  } catch (error) {
    fail(call, format, error);
    return;
  }
  sendResponse(call, format, arrived);
}

function fail(call: FastCall, format: WireFormat, error: unknown): void {
  recordRefusal(call.request.record, error);
  format.sendError(call, error);
}
