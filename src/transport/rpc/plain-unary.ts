/**
 * A short way for plain unary calls of Connect and gRPC: connect-es costs several times the query. It shares decoding,
 * call and encoding with REST, and ends in `reply.send`, so that all hooks of Fastify run.
 */
import type { IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from "fastify";
import type { Recording } from "../../registry/recorder.js";
import { readBody } from "../bodies.js";
import { acceptsGzip, GZIP, gzip, MIN_COMPRESSED_BYTES, varyByEncoding } from "../compress.js";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import { type Body, bufferOf, ChunkList } from "../encoding/chunks.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import { recordRefusal, rejection } from "../errors.js";
import type { Operation } from "../operations.js";
import { NOT_MODIFIED, recordingFor, shortForm, validatorsOf } from "../validators.js";
import { sendRpcError } from "./errors.js";

/** Flags (1 byte) and length of the message (4 bytes). */
export const FRAME_HEADER_BYTES = 5;
/** gRPC reserves the other flags. */
const COMPRESSED_FLAG = 1;

type Format = "json" | "proto" | "grpc";

interface Call {
  readonly operation: Operation;
  readonly format: Format;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly maxBodyBytes: number;
  readonly compresses: boolean;
}

/** Serves the plain calls of the operations by their path; connect-fastify serves all others. */
export function plainUnaryCalls(
  operations: readonly Operation[],
  maxBodyBytes: number,
  compresses: boolean,
): preHandlerHookHandler {
  const byPath = new Map(operations.map((operation) => [`/${operation.name}`, operation]));
  return (request, reply, done) => {
    const operation = byPath.get(request.routeOptions.url ?? "");
    const format = operation === undefined ? undefined : plainFormat(request.raw);
    if (operation === undefined || format === undefined) done();
    else serve({ operation, format, request, reply, maxBodyBytes, compresses });
  };
}

/** Of a request with one uncompressed body of a known type and no deadline; undefined for others. */
function plainFormat({ headers, method, httpVersionMajor }: IncomingMessage): Format | undefined {
  if (method !== "POST") return undefined;
  const isPlainConnect = headers["content-encoding"] === undefined && headers["connect-timeout-ms"] === undefined;
  switch (headers["content-type"]) {
    case "application/json":
      return isPlainConnect ? "json" : undefined;
    case "application/proto":
      return isPlainConnect ? "proto" : undefined;
    case "application/grpc":
    case "application/grpc+proto": {
      const { "grpc-encoding": encoding = "identity", "grpc-timeout": timeout } = headers;
      return httpVersionMajor === 2 && timeout === undefined && encoding === "identity" ? "grpc" : undefined;
    }
    default:
      return undefined;
  }
}

function serve(call: Call): void {
  const { operation, format, request, reply, maxBodyBytes } = call;
  const { record } = request;
  record.operation = operation.name;
  record.protocol = format === "grpc" ? "grpc" : "connect";
  readBody(request, maxBodyBytes, format === "grpc" ? FRAME_HEADER_BYTES : 0, (body) => {
    if (body === undefined) {
      reply.hijack();
      record.complete(Code.Canceled);
    } else if (body instanceof ConnectError) sendRpcError(request, reply, body);
    else answer(call, body);
  });
}

/** Stays synchronous where the operation is. */
function answer(call: Call, body: Buffer): void {
  try {
    const recording = recordingFor(call.request.raw);
    const response = call.operation.call(decode(call, body), recording);
    if (response instanceof Promise) {
      response.then((later) => send(call, later, recording)).catch((error: unknown) => fail(call, error));
    } else send(call, response, recording);
  } catch (error) {
    fail(call, error);
  }
}

function fail({ request, reply }: Call, error: unknown): void {
  recordRefusal(request.record, error);
  sendRpcError(request, reply, ConnectError.from(error));
}

function decode({ operation, format }: Call, body: Buffer): Message {
  const { input } = operation.method;
  return format === "json"
    ? fromJsonBytes(input, body)
    : fromBinaryBytes(input, format === "grpc" ? unframe(body) : body);
}

/** The message of a body, which has one frame. */
function unframe(body: Buffer): Buffer {
  const message = onlyMessage(body);
  if (((body[0] ?? 0) & COMPRESSED_FLAG) !== 0) {
    const problem = "the message is compressed, but grpc-encoding does not say how";
    throw rejection("PROTOCOL_ERROR", problem, { code: Code.Internal });
  }
  return message;
}

/** The content of the one frame that a body has to have, compressed or not. */
export function onlyMessage(body: Buffer): Buffer {
  const end = FRAME_HEADER_BYTES + (body.length < FRAME_HEADER_BYTES ? 0 : body.readUInt32BE(1));
  if (body.length < end && body.length > 0) {
    throw rejection("PROTOCOL_ERROR", "the message is shorter than its frame says");
  }
  // The codes of what follows are those that gRPC prescribes.
  if (body.length !== end) {
    throw rejection("PROTOCOL_ERROR", "the body must be one message", { code: Code.Unimplemented });
  }
  return body.subarray(FRAME_HEADER_BYTES);
}

function send(call: Call, response: EncodableResponse, recording: Recording | undefined): void {
  const { format, request, reply, compresses } = call;
  const validators = validatorsOf(response, recording);
  const isKnown = shortForm(request.raw, validators) !== undefined;
  const sent = isKnown ? response.empty() : response;
  const message = format === "json" ? sent.json() : sent.binary();
  reply.headers(validators);
  if (isKnown) {
    request.record.isNotModified = true;
    reply.header(NOT_MODIFIED, "true");
  }
  const accepted = request.headers[format === "grpc" ? "grpc-accept-encoding" : "accept-encoding"];
  if (compresses && message.length >= MIN_COMPRESSED_BYTES && acceptsGzip(accepted)) {
    gzip(bufferOf(message))
      .then((bytes) => sendBytes(call, bytes === undefined ? message : new ChunkList(bytes), bytes !== undefined))
      .catch((error: unknown) => fail(call, error));
  } else sendBytes(call, message, false);
}

function sendBytes({ format, reply, compresses }: Call, body: Body, isCompressed: boolean): void {
  if (format !== "grpc") {
    reply.header("content-type", `application/${format}`);
    if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
    if (isCompressed) reply.header("content-encoding", GZIP);
    void reply.send(bufferOf(body));
    return;
  }
  const frame = bufferOf(body, FRAME_HEADER_BYTES);
  frame[0] = isCompressed ? COMPRESSED_FLAG : 0;
  frame.writeUInt32BE(body.length, 1);
  reply.header("content-type", "application/grpc+proto").header("grpc-accept-encoding", GZIP);
  if (isCompressed) reply.header("grpc-encoding", GZIP);
  reply.trailer("grpc-status", (_reply, _payload, done) => done(null, "0"));
  void reply.send(frame);
}
