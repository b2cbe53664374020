/** Sends the response of an operation by Fastify's reply. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { IF_NONE_MATCH, isNotModified } from "./caching/conditional.js";
import { validatorFields } from "./caching/validators.js";
import { acceptsGzip, GZIP } from "./compression/accept-encoding.js";
import { compress } from "./compression/compress.js";
import { varyByEncoding } from "./compression/vary.js";
import type { Body, ChunkList } from "./encoding/chunk-list.js";
import type { EncodableResponse } from "./encoding/encodable-response.js";

/** Sends a message of REST or Connect. Stays synchronous where compression is: a promise costs more than the query. */
export function sendMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  contentType: string,
  message: ChunkList,
  compresses: boolean,
): void {
  reply.header("content-type", contentType);
  if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  const accepts = compresses && acceptsGzip(request.headers["accept-encoding"]);
  const compressed = accepts ? compress(message) : undefined;
  const send = (body: Body | undefined) => {
    if (body !== undefined) reply.header("content-encoding", GZIP);
    void reply.send(bufferOf(body ?? message));
  };
  if (compressed instanceof Promise) void compressed.then(send);
  else send(compressed);
}

/** The bytes of a body, behind `prefix` bytes with any content. */
export function bufferOf(body: Body, prefix = 0): Buffer {
  const buffer = Buffer.allocUnsafe(prefix + body.length);
  body.write(buffer, prefix);
  return buffer;
}

/** `fields` are names and values in turn. */
export function setFields(reply: FastifyReply, fields: readonly string[]): void {
  for (let at = 0; at + 1 < fields.length; at += 2) reply.header(fields[at] ?? "", fields[at + 1]);
}

/** Sends the response of REST. Throws if it cannot be encoded. */
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
  if (!isNotModified(response, request.headers[IF_NONE_MATCH])) {
    sendMessage(request, reply, "application/json", response.json(), compresses);
    return;
  }
  request.record.isNotModified = true;
  if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  void reply.code(304).send();
}
