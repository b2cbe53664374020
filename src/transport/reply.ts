import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

/** Hijacks a reply, to send on the raw response. Returns the headers that hooks have set: they belong to it. */
export function hijack(reply: FastifyReply): OutgoingHttpHeaders {
  reply.hijack();
  // Undefined values, which the type allows, are skipped by setHeaders.
  return reply.getHeaders() as OutgoingHttpHeaders;
}

export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}
