/** What is done with the requests of an HTTP/2 connection that do not go as they should. */
import http2 from "node:http2";
import { tooSlow } from "./limits.js";

/** Streams of these paths, by gRPC, are meant to last; whoever serves them bounds them. */
const LASTING = "/grpc.";

/** Whether a stream is meant to last for as long as its caller likes. */
export const isLongLived = (headers: http2.IncomingHttpHeaders): boolean =>
  headers[":path"]?.startsWith(LASTING) === true && headers["content-type"]?.startsWith("application/grpc") === true;

/** Whether a request has come whole, be it read or not. */
export const isComplete = (stream: http2.ServerHttp2Stream): boolean =>
  stream.readableEnded || stream.endAfterHeaders || stream.state.remoteClose === 1;

/** Whether any of them is being answered. */
export function isAnswering(streams: Iterable<http2.ServerHttp2Stream>): boolean {
  for (const { headersSent } of streams) if (headersSent) return true;
  return false;
}

/** Ends a request that has not come whole, with the status of HTTP for it where none was sent. */
export function rejectTimeout(stream: http2.ServerHttp2Stream, requestMs: number): void {
  if (!stream.headersSent && !stream.destroyed && !stream.closed) {
    stream.respond({ ":status": 408, "content-type": "application/json" });
    stream.end(JSON.stringify({ error: tooSlow(requestMs) }));
  }
  // Behind what was sent, and in place of the rest of the request.
  stream.close(http2.constants.NGHTTP2_NO_ERROR);
}

/** Ends a stream whatever it waits for. */
export function resetStream(stream: http2.ServerHttp2Stream): void {
  // One that has been closed waits until its caller takes what was sent.
  if (stream.closed) stream.destroy();
  else stream.close(http2.constants.NGHTTP2_CANCEL);
}

/** The octets of names and values: as texts they have one for each. */
export function headBytes(headers: readonly string[]): number {
  let sum = 0;
  for (const text of headers) sum += text.length;
  return sum;
}

/** Refuses a request for its head. */
export function rejectHeaders(response: http2.Http2ServerResponse, maxHeaderBytes: number): void {
  const error = `the head of the request is larger than ${maxHeaderBytes} bytes, which is all that is read`;
  response.writeHead(431, { "content-type": "application/json" });
  response.end(JSON.stringify({ error }));
}
