/** Step 6: an encoded message, or an error, -> the connection. */
import { ServerResponse } from "node:http";
import {
  type Http2ServerRequest,
  type OutgoingHttpHeaders,
  sensitiveHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { endConnectWithError, endGrpcWithError, isClosedStream } from "../connect/send-error.js";
import { REQUEST_ID } from "../../telemetry/request-ids.js";
import { ETAG, TAGS } from "../caching/validators.js";
import { acceptsGzip, GZIP } from "../compression/accept-encoding.js";
import { compress } from "../compression/compress.js";
import { varyByEncoding } from "../compression/vary.js";
import type { Body, ChunkList } from "../encoding/chunk-list.js";
import { hijack, setHeaders } from "../reply.js";
import type { FastCall } from "./call.js";
import { endAtOnce } from "../end-at-once.js";
import { endHttp1, endHttp2 } from "../write-body.js";

const FRAME_HEADER_BYTES = 5;
/** Of requests: connect-es serves compressed ones. */
const ACCEPTED_ENCODING = GZIP;
/**
 * Headers whose values differ from response to response. Sent as sensitive headers, they stay out of the dynamic table of
 * HPACK (RFC 7541, section 6.2.3): nghttp2 compares a value with all earlier ones of its name there. Saves 7 % of a gRPC
 * call; can go when nghttp2 looks up entries by value.
 */
const UNIQUE_FIELDS = [ETAG, TAGS, REQUEST_ID];

/** `fields` are further headers, names and values in turn, to which this adds its own. */
export function sendHttp(call: FastCall, contentType: string, message: ChunkList, fields: string[]): void {
  const { request, reply, compresses } = call;
  const headers = hijack(reply);
  const compressed = compresses && acceptsGzip(request.raw.headers["accept-encoding"]) ? compress(message) : undefined;
  // Stay synchronous where compression is.
  if (compressed instanceof Promise) {
    void compressed.then((body) => endHttp(call, headers, contentType, message, body, fields));
  } else endHttp(call, headers, contentType, message, compressed, fields);
}

function endHttp(
  { request, reply, compresses }: FastCall,
  headers: OutgoingHttpHeaders,
  contentType: string,
  message: ChunkList,
  compressed: Body | undefined,
  fields: string[],
): void {
  const body = compressed ?? message;
  const response = reply.raw;
  const length = String(body.length);
  fields.push("content-type", contentType, "content-length", length, REQUEST_ID, request.record.requestId);
  if (compresses) fields.push("vary", varyByEncoding(headers["vary"]));
  if (compressed !== undefined) fields.push("content-encoding", GZIP);
  setHeaders(response, headers);
  if (!(response instanceof ServerResponse)) {
    // The compatibility class of HTTP/2 has the same methods.
    (response as ServerResponse).writeHead(200, fields);
    endHttp2(response, body.length, (buffer) => body.write(buffer, 0));
    request.usage.holdResponse(body.length);
  } else if (!endAtOnce(response, 200, fields, body, request.usage)) {
    response.writeHead(200, fields);
    endHttp1(response, body, request.usage);
  }
  request.record.complete(0);
}

/** 304, RFC 9110, section 15.4.5. */
export function sendNotModified({ request, reply, compresses }: FastCall, fields: string[]): void {
  const headers = hijack(reply);
  fields.push(REQUEST_ID, request.record.requestId);
  if (compresses) fields.push("vary", varyByEncoding(headers["vary"]));
  const response = reply.raw;
  setHeaders(response, headers);
  const isSent = response instanceof ServerResponse && endAtOnce(response, 304, fields, undefined, undefined);
  if (!isSent) response.writeHead(304, fields).end();
  request.record.complete(0);
}

export function sendGrpc(call: FastCall, message: ChunkList, extra: readonly string[]): void {
  const { request, reply, compresses } = call;
  const headers = hijack(reply);
  const accepts = compresses && acceptsGzip(request.raw.headers["grpc-accept-encoding"]);
  const compressed = accepts ? compress(message) : undefined;
  if (compressed instanceof Promise) void compressed.then((body) => endGrpc(call, headers, message, body, extra));
  else endGrpc(call, headers, message, compressed, extra);
}

function endGrpc(
  { request, reply }: FastCall,
  headers: OutgoingHttpHeaders,
  message: ChunkList,
  compressed: Body | undefined,
  extra: readonly string[],
): void {
  const stream = streamOf(request);
  if (isClosedStream(stream)) return request.record.complete(Code.Canceled);
  // The response sends them when the stream asks for trailers.
  reply.raw.addTrailers({ "grpc-status": "0" });
  const fields: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "grpc-accept-encoding": ACCEPTED_ENCODING,
    [REQUEST_ID]: request.record.requestId,
    ...(compressed !== undefined && { "grpc-encoding": GZIP }),
    ...headers,
    [sensitiveHeaders]: UNIQUE_FIELDS,
  };
  for (let at = 0; at + 1 < extra.length; at += 2) fields[extra[at] ?? ""] = extra[at + 1];
  stream.respond(fields, { waitForTrailers: true });
  const body = compressed ?? message;
  const writeFrame = (buffer: Buffer) => {
    buffer[0] = compressed === undefined ? 0 : 1;
    buffer.writeUInt32BE(body.length, 1);
    body.write(buffer, FRAME_HEADER_BYTES);
  };
  endHttp2(stream, FRAME_HEADER_BYTES + body.length, writeFrame);
  request.usage.holdResponse(body.length);
  request.record.complete(0);
}

export function sendConnectError({ request, reply }: FastCall, error: unknown): void {
  setHeaders(reply.raw, hijack(reply));
  endConnectWithError(reply.raw, request.record, ConnectError.from(error));
}

export function sendGrpcError({ request, reply }: FastCall, error: unknown): void {
  endGrpcWithError(streamOf(request), hijack(reply), request.record, ConnectError.from(error));
}

const streamOf = ({ raw }: FastCall["request"]): ServerHttp2Stream => (raw as unknown as Http2ServerRequest).stream;
