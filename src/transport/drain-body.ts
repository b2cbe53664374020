import { IncomingMessage } from "node:http";
import { constants, Http2ServerRequest, type ServerHttp2Stream } from "node:http2";

/** The readable side of a request: over HTTP/2 its stream, or the request that wraps it. */
export type Incoming = IncomingMessage | Http2ServerRequest | ServerHttp2Stream;

/** Bytes that are read to keep a connection usable; past them the connection, or the stream, is closed. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;

/** Beyond this number of small chunks the connection is closed. */
const MAX_SMALL_CHUNKS = 1_024;
const SMALL_CHUNK_BYTES = 64;

/** Drops the rest of a request: unread bytes block HTTP/1.1 and fill HTTP/2 session memory. Resolves at any end. */
export function drainBody(request: Incoming): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let drained = 0;
    let chunks = 0;
    request.on("end", resolve).on("close", resolve).on("error", resolve);
    request.on("data", (chunk: Buffer) => {
      drained += chunk.length;
      chunks++;
      const isInSmallChunks = chunks > MAX_SMALL_CHUNKS && drained < chunks * SMALL_CHUNK_BYTES;
      if (drained > MAX_DRAINED_BYTES || isInSmallChunks) close(request);
    });
    // A "readable" listener of an earlier reader would keep the stream paused.
    request.removeAllListeners("readable");
    request.resume();
  });
}

function close(request: Incoming): void {
  if (request instanceof IncomingMessage) request.destroy();
  else {
    const stream = request instanceof Http2ServerRequest ? request.stream : request;
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}
