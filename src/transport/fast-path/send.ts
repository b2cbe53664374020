/** Step 6: an encoded message, or an error, -> the connection. */
import { ServerResponse } from "node:http";
import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { endConnectWithError, endGrpcWithError, isClosedStream } from "../connect/send-error.js";
import type { BinaryString } from "../encoding/binary-string.js";
import { acquire, release } from "../encoding/buffer-pool.js";
import { acceptsGzip, GZIP } from "../compression/accept-encoding.js";
import { compress } from "../compression/compress.js";
import { varyByEncoding } from "../compression/vary.js";
import type { Body, ChunkList } from "../encoding/chunk-list.js";
import { hijack, setHeaders } from "../reply.js";
import type { FastCall } from "./call.js";

const FRAME_HEADER_BYTES = 5;
/** Of requests: connect-es serves compressed ones. */
const ACCEPTED_ENCODING = GZIP;

export function sendHttp(call: FastCall, contentType: string, message: ChunkList): void {
  const { request, reply, compresses } = call;
  const headers = hijack(reply);
  const send = (compressed?: Body): void => {
    const body = compressed ?? message;
    const fields = ["content-type", contentType, "content-length", String(body.length)];
    if (compresses) fields.push("vary", varyByEncoding(headers["vary"]));
    if (compressed !== undefined) fields.push("content-encoding", GZIP);
    const response = reply.raw;
    setHeaders(response, headers);
    response.writeHead(200, fields);
    if (response instanceof ServerResponse) endHttp1(response, body);
    else {
      // The compatibility class of HTTP/2 has the same methods.
      const bytes = bytesForStream(body.length, (buffer) => body.write(buffer, 0));
      (response as ServerResponse).end(bytes, "latin1");
    }
    request.record.complete(0);
  };
  sendCompressed(compresses && acceptsGzip(request.raw.headers["accept-encoding"]), message, send);
}

/** Stays synchronous where compression is. */
function sendCompressed(accepts: boolean, message: ChunkList, send: (compressed?: Body) => void): void {
  const compressed = accepts ? compress(message) : undefined;
  if (compressed instanceof Promise) void compressed.then(send);
  else send(compressed);
}

/** Writes from a pooled buffer. A response that has to wait gets its own: many may wait on one connection. */
function endHttp1(response: ServerResponse, message: Body): void {
  const { length } = message;
  // A pipelined response has no socket until its predecessors are sent.
  const { socket } = response;
  if (socket === null || socket.writableLength > 0) {
    const own = Buffer.allocUnsafe(length);
    message.write(own, 0);
    response.end(own);
    return;
  }
  const pooled = acquire(length);
  response.end(pooled.subarray(0, message.write(pooled, 0)));
  if (socket.writableLength === 0) release(pooled);
  else response.once("finish", () => release(pooled));
}

/** Strings from this size on are allocated outside the heap, which costs more than a buffer. */
const LARGE_BYTES = 64 * 1024;

/** To be sent as "latin1". The stream may close before it writes: a pooled buffer could never be released safely. */
function bytesForStream(length: number, write: (buffer: Buffer) => void): Buffer | BinaryString {
  if (length >= LARGE_BYTES) {
    const own = Buffer.allocUnsafe(length);
    write(own);
    return own;
  }
  const pooled = acquire(length);
  write(pooled);
  const bytes = pooled.toString("latin1", 0, length);
  release(pooled);
  return bytes;
}

export function sendGrpc({ request, reply, compresses }: FastCall, message: ChunkList): void {
  const stream = streamOf(request);
  const headers = hijack(reply);
  const send = (compressed?: Body): void => {
    if (isClosedStream(stream)) return request.record.complete(Code.Canceled);
    // The response sends them when the stream asks for trailers.
    reply.raw.addTrailers({ "grpc-status": "0" });
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc+proto",
        "grpc-accept-encoding": ACCEPTED_ENCODING,
        ...(compressed !== undefined && { "grpc-encoding": GZIP }),
        ...headers,
      },
      { waitForTrailers: true },
    );
    stream.end(framed(compressed ?? message, compressed !== undefined), "latin1");
    request.record.complete(0);
  };
  sendCompressed(compresses && acceptsGzip(request.raw.headers["grpc-accept-encoding"]), message, send);
}

function framed(message: Body, isCompressed: boolean): Buffer | BinaryString {
  return bytesForStream(FRAME_HEADER_BYTES + message.length, (buffer) => {
    buffer[0] = isCompressed ? 1 : 0;
    buffer.writeUInt32BE(message.length, 1);
    message.write(buffer, FRAME_HEADER_BYTES);
  });
}

export function sendConnectError({ request, reply }: FastCall, error: unknown): void {
  setHeaders(reply.raw, hijack(reply));
  endConnectWithError(reply.raw, request.record, ConnectError.from(error));
}

export function sendGrpcError({ request, reply }: FastCall, error: unknown): void {
  endGrpcWithError(streamOf(request), hijack(reply), request.record, ConnectError.from(error));
}

const streamOf = ({ raw }: FastCall["request"]): ServerHttp2Stream => (raw as unknown as Http2ServerRequest).stream;
