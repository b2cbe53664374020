/** A body -> one buffer or string for the connection. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { BinaryString } from "./encoding/binary-string.js";
import { acquire, release } from "./encoding/buffer-pool.js";
import type { Body } from "./encoding/chunk-list.js";
import type { Usage } from "./limits.js";

/** Writes from a pooled buffer. A response that has to wait gets its own: many may wait on one connection. */
export function endHttp1(response: ServerResponse, body: Body, usage: Usage | undefined): void {
  const { length } = body;
  // A pipelined response has no socket until its predecessors are sent.
  const { socket } = response;
  if (socket === null || socket.writableLength > 0) {
    const own = Buffer.allocUnsafe(length);
    body.write(own, 0);
    response.end(own);
    usage?.holdResponse(length);
    return;
  }
  const pooled = acquire(length);
  response.end(pooled.subarray(0, body.write(pooled, 0)));
  releaseWritten(pooled, length, response, socket, usage);
}

/** Releases the pooled buffer of a response when the socket has written it. Until then it counts towards the budget. */
export function releaseWritten(
  pooled: Buffer,
  length: number,
  response: ServerResponse,
  socket: Socket,
  usage: Usage | undefined,
): void {
  if (socket.writableLength === 0) return release(pooled);
  response.once("finish", () => release(pooled));
  usage?.holdResponse(length);
}

/** Strings from this size on are allocated outside the heap, which costs more than a buffer. */
const LARGE_BYTES = 64 * 1024;

/** Ends a response of `length` bytes. */
export function endHttp2(stream: Writable, length: number, write: (buffer: Buffer) => void): void {
  if (length >= LARGE_BYTES) {
    const own = Buffer.allocUnsafe(length);
    write(own);
    stream.end(own);
    return;
  }
  // The stream may close before it writes: a pooled buffer could never be released safely.
  const pooled = acquire(length);
  write(pooled);
  const bytes: BinaryString = pooled.toString("latin1", 0, length);
  release(pooled);
  stream.end(bytes, "latin1");
}
