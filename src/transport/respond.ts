/** Sends the response of an operation by Fastify's reply. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Recording } from "../registry/recorder.js";
import { varyByEncoding } from "./compress.js";
import { bufferOf } from "./encoding/chunks.js";
import type { EncodableResponse } from "./encoding/encodable-response.js";
import { cacheControl, GENERATION, NOT_MODIFIED, shortForm, validatorsOf } from "./validators.js";

/** Sends the response of REST, which @fastify/compress may compress. Throws if it cannot be encoded. */
export function sendRest(
  request: FastifyRequest,
  reply: FastifyReply,
  response: EncodableResponse,
  recording: Recording | undefined,
  compresses: boolean,
): void {
  const validators = validatorsOf(response, recording);
  const short = shortForm(request.raw, validators);
  reply.headers(validators);
  if (request.method === "GET" && GENERATION in validators)
    reply.header("cache-control", cacheControl(short === "empty"));
  if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  request.record.isNotModified = short !== undefined;
  if (short === "304") {
    void reply.code(304).send();
    return;
  }
  if (short === "empty") reply.header(NOT_MODIFIED, "true");
  void reply.header("content-type", "application/json").send(short === "empty" ? "{}" : bufferOf(response.json()));
}
