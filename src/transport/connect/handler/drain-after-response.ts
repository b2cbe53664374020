import { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import { drainBody } from "../../bodies.js";
import type { ConnectCall } from "./connect-call.js";

/** Drops what a client sends after the complete response; resets an HTTP/2 stream with NO_ERROR, as gRPC asks. */
export function drainAfterResponse({ request: { raw }, reply }: ConnectCall): void {
  if (raw instanceof IncomingMessage && raw.httpVersionMajor === 1) {
    reply.raw.once("finish", () => void drainBody(raw));
    return;
  }
  const { stream } = raw as unknown as Http2ServerRequest;
  const close = () => {
    stream.close(constants.NGHTTP2_NO_ERROR);
    // A stream with unread bytes would stay open.
    void drainBody(raw);
  };
  // After the listener that sends the trailers.
  stream.once("wantTrailers", () => setImmediate(close));
}
