import { type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { giveBack, lend } from "./answer/memory.js";
import { joined, LARGE, lengthOf, type Pieces, write } from "./answer/octets.js";

/**
 * Sends an answer that is written already, past Fastify, which would look at it
 * once more.
 */
export function sendBody(request: FastifyRequest, reply: FastifyReply, contentType: string, body: Pieces): void {
  const { raw } = reply;
  put(raw, takeOver(reply));
  endWith(raw, contentType, body);
  request.exchange.end(0);
}

/**
 * Sends head and body. The memory of a large body is given back when the system has
 * all of it, which it mostly has at once. What is cut, and what goes by HTTP/2, whose
 * streams may be closed before their bytes are written, is left to be collected.
 */
export function endWith(response: ServerResponse, contentType: string, body: Pieces): void {
  const length = lengthOf(body);
  response.writeHead(200, ["content-type", contentType, "content-length", String(length)]);
  if (length < LARGE) {
    response.end(joined(body), "latin1");
    return;
  }
  if (isHttp2(response)) {
    response.end(write(body, Buffer.allocUnsafe(length)));
    return;
  }
  const { socket } = response;
  const memory = lend(length);
  response.end(write(body, memory));
  // Behind another answer on its connection it has no socket yet.
  if (socket?.writableLength === 0) giveBack(memory);
  else response.once("finish", () => giveBack(memory));
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
export function takeOver(reply: FastifyReply): OutgoingHttpHeaders {
  reply.hijack();
  if (!reply.request.exchange.mayHaveHeaders) return NONE;
  // A name with a value that is undefined, which the types allow, is left out where they are sent.
  return reply.getHeaders() as OutgoingHttpHeaders;
}

/** Puts headers into a response. */
export function put(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}
