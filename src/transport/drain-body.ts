/**
 * What is left of a request whose answer is known before it was read to its end,
 * as that of one that is too large is. Left alone it would stop the connection:
 * over HTTP/1.1 the next request stands behind it, over HTTP/2 it counts as
 * memory of the session for as long as that lasts.
 */
import { IncomingMessage } from "node:http";
import { constants, Http2ServerRequest, type ServerHttp2Stream } from "node:http2";

/** What a request comes by: over HTTP/2 its stream, or the request that stands for it. */
export type Incoming = IncomingMessage | Http2ServerRequest | ServerHttp2Stream;

/** How much is read to keep a connection, in bytes; beyond it the connection, or the stream, ends. */
const MOST = 16 * 1024 * 1024;

/** Reads the rest and keeps nothing of it. Ends when it has been read, or the request is over in another way. */
export function drainBody(request: Incoming): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let read = 0;
    request.on("end", resolve).on("close", resolve).on("error", resolve);
    request.on("data", (chunk: Buffer) => {
      read += chunk.length;
      if (read > MOST) cut(request);
    });
    // Whoever read it before may still listen, and a stream that is listened to does not flow.
    request.removeAllListeners("readable");
    request.resume();
  });
}

function cut(request: Incoming): void {
  if (request instanceof IncomingMessage) request.destroy();
  else {
    const stream = request instanceof Http2ServerRequest ? request.stream : request;
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}
