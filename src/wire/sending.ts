import { type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { giveBack } from "./answer/memory.js";
import type { Body } from "./answer/octets.js";

/**
 * Sends an answer that is written already, past Fastify, which would look at it
 * once more.
 */
export function sendBody(reply: FastifyReply, contentType: string, body: Body): void {
  const { raw } = reply;
  put(raw, takeOver(reply));
  endWith(raw, contentType, body);
}

/**
 * Sends head and body. The body's memory is given back when the system has all
 * of it; what is cut, and what goes by HTTP/2, whose streams may be closed before
 * their bytes are written, is left to be collected.
 */
export function endWith(response: ServerResponse, contentType: string, body: Body): void {
  if (typeof body !== "string" && response instanceof ServerResponse) response.once("finish", () => giveBack(body));
  response.writeHead(200, ["content-type", contentType, "content-length", String(body.length)]);
  response.end(body, "latin1");
}

/** Takes a reply out of Fastify's hands, and gives the headers that others have set for it: they go with the answer. */
export function takeOver(reply: FastifyReply): OutgoingHttpHeaders {
  reply.hijack();
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
