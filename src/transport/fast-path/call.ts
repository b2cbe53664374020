/** Steps 3 to 6: decode, call, encode, send. */
import type { IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";
import type { Incoming } from "../drain-body.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { Operation } from "../operations.js";

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
  readonly send: (call: FastCall, message: ChunkList) => void;
  readonly sendError: (call: FastCall, error: unknown) => void;
}

/** Calls the operation. Stays synchronous where the operation is: a promise costs more than the query. */
export function callOperation(call: FastCall, format: WireFormat, body: Buffer, maxBytes: number): void {
  let message: ChunkList;
  try {
    const response = call.operation.call(format.decode(call, body, maxBytes));
    if (response instanceof Promise) {
      void sendLater(call, format, response);
      return;
    }
    message = format.encode(response);
  } catch (error) {
    format.sendError(call, error);
    return;
  }
  format.send(call, message);
}

async function sendLater(call: FastCall, format: WireFormat, response: Promise<EncodableResponse>): Promise<void> {
  let message: ChunkList;
  try {
    message = format.encode(await response);
  } catch (error) {
    format.sendError(call, error);
    return;
  }
  format.send(call, message);
}
