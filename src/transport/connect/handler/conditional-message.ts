import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { IF_NONE_MATCH, isNotModified, RPC_IF_NONE_MATCH } from "../../caching/conditional.js";
import { matchesEtag } from "../../caching/if-none-match.js";
import { ETAG, NOT_MODIFIED, validatorFields } from "../../caching/validators.js";
import type { EncodableResponse } from "../../encoding/encodable-response.js";
import { type ConnectCall, connectCall } from "./connect-call.js";

/** The message of a response, or an empty one if the client has it. Sets the headers that say what it rests on. */
export function conditionalMessage(response: EncodableResponse, context: HandlerContext): Message {
  const { requestHeader, requestMethod, responseHeader, values } = context;
  const fields = validatorFields(response);
  for (let at = 0; at + 1 < fields.length; at += 2) responseHeader.set(fields[at] ?? "", fields[at + 1] ?? "");
  // A cache of HTTP would store the empty message as the response to all GET requests.
  const condition = requestMethod === "GET" ? null : requestHeader.get(RPC_IF_NONE_MATCH);
  if (!isNotModified(response, condition ?? undefined)) return response.message();
  responseHeader.set(NOT_MODIFIED, "true");
  const call = values.get(connectCall);
  if (call !== undefined) call.request.record.isNotModified = true;
  return response.empty().message();
}

/** Connect by GET is cached by HTTP: 304 for a client that has the response, and otherwise how to keep it. */
export function conditionalGet(response: UniversalServerResponse, { request }: ConnectCall): UniversalServerResponse {
  const etag = new Headers(response.header).get(ETAG);
  if (request.method !== "GET" || response.status !== 200 || etag === null) return response;
  const header = new Headers(response.header);
  header.set("cache-control", "no-cache");
  const condition = request.raw.headers[IF_NONE_MATCH];
  if (!matchesEtag(condition, etag)) return { ...response, header };
  request.record.isNotModified = true;
  for (const name of ["content-type", "content-length", "content-encoding"]) header.delete(name);
  return { status: 304, header };
}
