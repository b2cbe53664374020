import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { REQUEST_ID } from "../../../telemetry/request-ids.js";
import { hijack } from "../../reply.js";
import { outcomeOfResponse } from "./outcome.js";
import type { ConnectCall } from "./connect-call.js";

/**
 * Sends a gRPC response without a message as "Trailers-Only": one HEADERS frame with END_STREAM. connect-es sends
 * HEADERS and trailers, and clients of gRPC do not retry a call once they have received HEADERS. Returns whether it
 * was such a response.
 */
export function sendTrailersOnly(
  { request, reply }: ConnectCall,
  response: UniversalServerResponse,
  body: Buffer,
): boolean {
  const { raw, record } = request;
  if (record.protocol !== "grpc" || raw.httpVersionMajor !== 2 || response.status !== 200 || body.length > 0)
    return false;
  const { stream } = raw as unknown as Http2ServerRequest;
  record.complete(outcomeOfResponse(response, record.protocol, body));
  const own = { ":status": 200, [REQUEST_ID]: record.requestId };
  const head = { ...own, ...hijack(reply), ...fieldsOf(response.header), ...fieldsOf(response.trailer) };
  if (!isClosedStream(stream)) stream.respond(head, { endStream: true });
  return true;
}

/** A stream that either side has closed takes no headers, although it is destroyed only some ticks later. */
const isClosedStream = ({ destroyed, closed }: ServerHttp2Stream): boolean => destroyed || closed;

const fieldsOf = (headers: Headers = new Headers()): Record<string, string> => Object.fromEntries(headers);
