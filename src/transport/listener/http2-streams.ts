import http2 from "node:http2";
import { fixRequestId, REQUEST_ID, requestIdOf } from "../../telemetry/request-ids.js";
import { requestTimeoutMessage } from "./limits.js";

/** gRPC health and reflection stream for as long as the client likes; their handlers bound them. */
const LONG_LIVED_PREFIX = "/grpc.";

export const isLongLived = (headers: http2.IncomingHttpHeaders): boolean =>
  headers[":path"]?.startsWith(LONG_LIVED_PREFIX) === true &&
  headers["content-type"]?.startsWith("application/grpc") === true;

/** Whether the whole request has arrived, read or not. */
export const isComplete = (stream: http2.ServerHttp2Stream): boolean =>
  stream.readableEnded || stream.endAfterHeaders || stream.state.remoteClose === 1;

export function isResponding(streams: Iterable<http2.ServerHttp2Stream>): boolean {
  for (const { headersSent } of streams) if (headersSent) return true;
  return false;
}

/** Ends a request that has not arrived in time, with 408 if no response has begun. */
export function rejectTimeout(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  requestMs: number,
): void {
  if (!stream.headersSent && !stream.destroyed && !stream.closed) {
    stream.respond({ ":status": 408, "content-type": "application/json", [REQUEST_ID]: fixRequestId(headers) });
    stream.end(JSON.stringify({ error: requestTimeoutMessage(requestMs) }));
  }
  // RST_STREAM follows the response and stops the rest of the request.
  stream.close(http2.constants.NGHTTP2_NO_ERROR);
}

export function resetStream(stream: http2.ServerHttp2Stream): void {
  // A closed stream stays until the client has read what was sent.
  if (stream.closed) stream.destroy();
  else stream.close(http2.constants.NGHTTP2_CANCEL);
}

/** Length of names and values in bytes: Node.js decodes each byte to one character. */
export function headerBytes(rawHeaders: readonly string[]): number {
  let sum = 0;
  for (const text of rawHeaders) sum += text.length;
  return sum;
}

export function rejectHeaders(response: http2.Http2ServerResponse, maxHeaderBytes: number): void {
  response.writeHead(431, { "content-type": "application/json", [REQUEST_ID]: requestIdOf(response.req.headers) });
  response.end(JSON.stringify({ error: `request header exceeds ${maxHeaderBytes} bytes` }));
}
