import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Octets } from "./answer/octets.js";

/**
 * Sends an answer that is written already, past Fastify, which would look at it
 * once more.
 */
export function sendOctets(reply: FastifyReply, contentType: string, octets: Octets): void {
  const { raw } = reply;
  put(raw, takeOver(reply));
  raw.writeHead(200, ["content-type", contentType, "content-length", String(octets.length)]);
  raw.end(octets, "latin1");
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
