import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { FastifyRequest } from "fastify";
import type { Recording } from "../../registry/recorder.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import { cacheControl, GENERATION, NOT_MODIFIED, shortForm, validatorsOf } from "../validators.js";

/** The message of a response, or an empty one if the client has it. Sets the headers that say what it rests on. */
export function conditionalMessage(
  response: EncodableResponse,
  { responseHeader }: HandlerContext,
  request: FastifyRequest,
  recording: Recording | undefined,
): Message {
  const validators = validatorsOf(response, recording);
  for (const [name, value] of Object.entries(validators)) responseHeader.set(name, value);
  const short = shortForm(request.raw, validators);
  if (short === undefined) return response.message();
  request.record.isNotModified = true;
  // conditionalGet makes a 304 of it.
  if (short === "empty") responseHeader.set(NOT_MODIFIED, "true");
  return response.empty().message();
}

/** Connect by GET is cached by HTTP: 304 for a client that has the response, and otherwise how to keep it. */
export function conditionalGet(response: UniversalServerResponse, request: FastifyRequest): UniversalServerResponse {
  const header = new Headers(response.header);
  if (request.method !== "GET" || response.status !== 200 || !header.has(GENERATION)) return response;
  header.set("cache-control", cacheControl(header.has(NOT_MODIFIED)));
  if (shortForm(request.raw, Object.fromEntries(header)) !== "304") return { ...response, header };
  for (const name of ["content-type", "content-length", "content-encoding"]) header.delete(name);
  return { status: 304, header };
}
