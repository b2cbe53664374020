import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID, requestIdOf } from "../../telemetry/request-ids.js";
import type { RequestRecord } from "../../telemetry/request-record.js";
import { memoizeLast } from "../../util/memoize-last.js";
import { JSON_WRITE_OPTIONS } from "../encoding/json-options.js";
import { outcomeOf, rejection } from "../errors.js";
import { hijack, setHeaders } from "../reply.js";
import { grpcStatus } from "./grpc-status.js";

/** Sends an error in the protocol of the request's record, for calls that connect-es does not see. */
export function rejectRpc(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { raw, record } = request;
  const headers = hijack(reply);
  if (record.protocol === "grpc" && raw.httpVersionMajor === 2) {
    endGrpcWithError((raw as unknown as Http2ServerRequest).stream, headers, record, error);
    return;
  }
  setHeaders(reply.raw, headers);
  if (record.protocol === "connect") endConnectWithError(reply.raw, record, error);
  else endWithGrpcHeaders(reply.raw, request.headers["content-type"] ?? "application/grpc", record, error);
}

export function endConnectWithError(response: ServerResponse, record: RequestRecord, error: ConnectError): void {
  record.complete(error.code);
  refuseConnect(response, error, record.requestId);
}

/** Memoized as `grpcStatus` is. */
const connectErrorBytes = memoizeLast((error: ConnectError) => errorToJsonBytes(error, JSON_WRITE_OPTIONS));

/** Refuses a Connect request that has no record. */
export function refuseConnect(response: ServerResponse, error: ConnectError, requestId: string): void {
  const bytes = connectErrorBytes(error);
  const length = String(bytes.length);
  const headers = ["content-type", "application/json", "content-length", length, REQUEST_ID, requestId];
  error.metadata.forEach((value, name) => headers.push(name, value));
  response.writeHead(codeToHttpStatus(error.code), headers);
  response.end(bytes);
}

/** The body of Connect for a refusal with a status of HTTP itself, such as 405 or 415. */
export function connectErrorBody(status: number, message: string): Buffer {
  const code = outcomeOf(status);
  if (code === 0) throw new Error(`status ${status} is no refusal`);
  return Buffer.from(errorToJsonBytes(rejection("PROTOCOL_ERROR", message, { code }), JSON_WRITE_OPTIONS));
}

/** Refuses a gRPC or gRPC-Web request that has no Fastify reply. */
export function refuseGrpc(request: IncomingMessage, response: ServerResponse, error: ConnectError): void {
  const contentType = request.headers["content-type"] ?? "application/grpc";
  const headers: OutgoingHttpHeaders = {
    "content-type": contentType,
    [REQUEST_ID]: requestIdOf(request.headers),
    ...Object.fromEntries(grpcStatus(error)),
  };
  const { stream } = request as IncomingMessage & { readonly stream?: ServerHttp2Stream };
  if (stream === undefined) {
    response.writeHead(200, headers);
    response.end();
  } else if (!isClosedStream(stream)) stream.respond({ ":status": 200, ...headers }, { endStream: true });
}

/** gRPC over HTTP/2, "Trailers-Only": one HEADERS frame with END_STREAM. */
export function endGrpcWithError(
  stream: ServerHttp2Stream,
  headers: OutgoingHttpHeaders,
  record: RequestRecord,
  error: ConnectError,
): void {
  record.complete(error.code);
  if (isClosedStream(stream)) return;
  const head: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    [REQUEST_ID]: record.requestId,
    ...headers,
  };
  grpcStatus(error).forEach((value, name) => (head[name] = value));
  stream.respond(head, { endStream: true });
}

/** gRPC-Web, whose clients read the status of an empty response from its headers. */
function endWithGrpcHeaders(
  response: ServerResponse,
  contentType: string,
  record: RequestRecord,
  error: ConnectError,
): void {
  record.complete(error.code);
  const headers = ["content-type", contentType, REQUEST_ID, record.requestId];
  grpcStatus(error).forEach((value, name) => headers.push(name, value));
  response.writeHead(200, headers);
  response.end();
}

/** A stream that either side has closed takes no headers, although it is destroyed only some ticks later. */
export const isClosedStream = ({ destroyed, closed }: ServerHttp2Stream): boolean => destroyed || closed;
