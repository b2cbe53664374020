/**
 * What is left of a request whose answer is known before it was read to its end,
 * as that of one that is too large is. Left alone it would stop the connection:
 * over HTTP/1.1 the next request stands behind it, over HTTP/2 it counts as
 * memory of the session for as long as that lasts.
 */
import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";

/** How much is read to keep a connection, in bytes; beyond it the connection, or the stream, ends. */
const MOST = 16 * 1024 * 1024;

/** Reads the rest and keeps nothing of it. Ends when it has been read, or the request is over in another way. */
export function readRest(request: IncomingMessage): Promise<void> {
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

function cut(request: IncomingMessage): void {
  // Fastify takes either version of HTTP; a request over HTTP/2 stands for a stream.
  if (request.httpVersionMajor === 1) request.destroy();
  else (request as unknown as Http2ServerRequest).stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}
