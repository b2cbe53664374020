/**
 * Ends a response of HTTP/1.1 with one write of head and body. ServerResponse checks each header field another time, and
 * writes head, body and an empty end as three chunks. Saves 13 % of a REST call; can go when `writeHead` and `end` of
 * node:http cost as little. See docs/decisions/one-write.md.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import { acquire } from "./encoding/buffer-pool.js";
import type { Body } from "./encoding/chunk-list.js";
import { IDLE_MS, type Usage } from "./limits.js";
import { releaseWritten } from "./write-body.js";

/** What a ServerResponse knows of its head, undocumented and alike in Node.js 20, 22 and 24. */
interface HeadState {
  /** The head, as it is sent. */
  _header: string;
  _headerSent: boolean;
}

/**
 * Returns false, and does nothing, where the response has to wait, closes its connection, or has headers that hooks have
 * set: use `writeHead` and `end`. `fields` are names and values in turn, which must be valid: nothing checks them here.
 * Without a body the status must be one that has none.
 */
export function endAtOnce(
  response: ServerResponse,
  status: number,
  fields: readonly string[],
  body: Body | undefined,
  usage: Usage | undefined,
): boolean {
  const { socket, req: request } = response;
  // A pipelined response has no socket until its predecessors are sent.
  if (socket === null || !socket.writable || socket.writableLength > 0) return false;
  if (!response.shouldKeepAlive || request.method === "HEAD" || response.getHeaderNames().length > 0) return false;
  const head = headOf(status, fields);
  const length = head.length + (body?.length ?? 0);
  const pooled = acquire(length);
  pooled.write(head, 0, "latin1");
  body?.write(pooled, head.length);
  response.statusCode = status;
  const state = response as ServerResponse & Partial<HeadState>;
  state._header = head;
  state._headerSent = true;
  socket.write(pooled.subarray(0, length));
  response.end();
  releaseWritten(pooled, length, response, socket, usage);
  return true;
}

function headOf(status: number, fields: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at + 1 < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}Date: ${date()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${IDLE_MS / 1000}\r\n\r\n`;
}

let second = 0;
let dateOfSecond = "";

/** The time in the form of HTTP. */
function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    dateOfSecond = new Date(now * 1000).toUTCString();
  }
  return dateOfSecond;
}
