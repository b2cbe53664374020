import { type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { release, acquire } from "../encoding/buffer-pool.js";
import type { BinaryString } from "../encoding/binary-string.js";
import type { ChunkList } from "../encoding/chunk-list.js";

/**
 * Sends an answer that is written already, past Fastify, which would look at it
 * once more.
 */
export function sendBody(request: FastifyRequest, reply: FastifyReply, contentType: string, body: ChunkList): void {
  const { raw } = reply;
  setHeaders(raw, hijack(reply));
  endWith(raw, contentType, body);
  request.record.complete(0);
}

/**
 * Sends head and body. The memory of the body is lent where nothing is before it
 * on its connection, and given back when the system has all of it, which it mostly
 * has at once. What has to wait has memory of just its own length: many such may
 * wait on one connection.
 */
export function endWith(response: ServerResponse, contentType: string, body: ChunkList): void {
  const { length } = body;
  response.writeHead(200, ["content-type", contentType, "content-length", String(length)]);
  if (isHttp2(response)) {
    response.end(
      bytesForStream(length, (memory) => body.write(memory, 0)),
      "latin1",
    );
    return;
  }
  // Behind another answer on its connection it has no socket yet.
  const { socket } = response;
  if (socket === null || socket.writableLength > 0) {
    const own = Buffer.allocUnsafe(length);
    body.write(own, 0);
    response.end(own);
    return;
  }
  const memory = acquire(length);
  response.end(memory.subarray(0, body.write(memory, 0)));
  if (socket.writableLength === 0) release(memory);
  else response.once("finish", () => release(memory));
}

/** From so many bytes on, a text stands in memory that the engine takes from the system each time. */
const LARGE = 64 * 1024;

/**
 * The same for a stream of HTTP/2, which may be closed before its bytes are
 * written, so that nobody knows when their memory is free: a copy, which is
 * collected; as a text while it is not large, whose memory costs less. To be sent as "latin1".
 */
export function bytesForStream(length: number, write: (memory: Buffer) => void): Buffer | BinaryString {
  if (length >= LARGE) {
    const own = Buffer.allocUnsafe(length);
    write(own);
    return own;
  }
  const memory = acquire(length);
  write(memory);
  const binary = memory.toString("latin1", 0, length);
  release(memory);
  return binary;
}

/** Sends a small body that is not written yet. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

/** The classes that make both versions look alike differ in this. */
const isHttp2 = (response: object): boolean => !(response instanceof ServerResponse);

const NONE: OutgoingHttpHeaders = Object.freeze({});

/** Takes a reply out of Fastify's hands, and gives the headers that others have set for it: they go with the answer. */
export function hijack(reply: FastifyReply): OutgoingHttpHeaders {
  reply.hijack();
  if (!reply.request.record.mayHaveReplyHeaders) return NONE;
  // A name with a value that is undefined, which the types allow, is left out where they are sent.
  return reply.getHeaders() as OutgoingHttpHeaders;
}

/** Puts headers into a response. */
export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}
