/** Sends the response of an operation by Fastify's reply. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { IF_NONE_MATCH, isNotModified } from "./caching/conditional.js";
import { validatorFields } from "./caching/validators.js";
import { varyByEncoding } from "./compress.js";
import { bufferOf } from "./encoding/chunks.js";
import type { EncodableResponse } from "./encoding/encodable-response.js";

/** `fields` are names and values in turn. */
export function setFields(reply: FastifyReply, fields: readonly string[]): void {
  for (let at = 0; at + 1 < fields.length; at += 2) reply.header(fields[at] ?? "", fields[at + 1]);
}

/** Sends the response of REST, which @fastify/compress may compress. Throws if it cannot be encoded. */
export function sendRest(
  request: FastifyRequest,
  reply: FastifyReply,
  response: EncodableResponse,
  compresses: boolean,
): void {
  const fields = validatorFields(response);
  setFields(reply, fields);
  // A cache may keep a response to GET, and must ask before each use whether it is still the same.
  if (fields.length > 0 && request.method === "GET") reply.header("cache-control", "no-cache");
  if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  if (isNotModified(response, request.headers[IF_NONE_MATCH])) {
    request.record.isNotModified = true;
    void reply.code(304).send();
  } else void reply.header("content-type", "application/json").send(bufferOf(response.json()));
}
