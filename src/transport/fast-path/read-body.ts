import { IncomingMessage } from "node:http";
import { Http2ServerRequest } from "node:http2";
import { TLSSocket } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { enqueue } from "./response-batching.js";
import { type Incoming, drainBody } from "../drain-body.js";

/** Larger ones take longer to answer than it takes to begin with it. */
const SMALL = 4_096;

/**
 * Reads the body of a request. Calls back once: with the bytes, with
 * resource_exhausted where there are more than the limit, or with undefined
 * where the caller has gone.
 */
export function readBody(
  request: Incoming,
  limit: number,
  done: (body: Buffer | ConnectError | undefined) => void,
): void {
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  let isWhole = false;
  let ended = false;
  const end = (result: Buffer | ConnectError | undefined) => {
    if (ended) return;
    ended = true;
    done(result);
  };
  // A hook that waited may have let it go: nothing more would be told of it.
  if (request.destroyed) return end(undefined);
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      request.off("data", onData).off("end", onEnd).off("close", onGone);
      const error = new ConnectError(
        `message is larger than ${limit} bytes, which is all that is read`,
        Code.ResourceExhausted,
      );
      void drainBody(request).then(() => end(error));
    } else if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  };
  const tell = () => {
    // A stream of HTTP/2 that is cut ends like one that has come whole.
    if (isCut(request)) end(undefined);
    else end(more === undefined ? (first ?? EMPTY) : Buffer.concat(more, length));
  };
  const onEnd = () => {
    isWhole = true;
    if (length <= SMALL && !mayEndAtOnce(request)) enqueue(tell);
    else tell();
  };
  const onGone = () => {
    // A request that has been read is closed too.
    if (!isWhole) end(undefined);
  };
  request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
}

const EMPTY = Buffer.alloc(0);

/**
 * Whether the end of the connection may come in the same reading as that of the
 * request, as over TLS, and Node.js ends its own side before the turn is over.
 * In cleartext it comes in the next, and over HTTP/2 streams end by themselves.
 */
function mayEndAtOnce(request: Incoming): boolean {
  return request instanceof IncomingMessage && request.socket instanceof TLSSocket;
}

/** Whether nobody waits for the answer any more. */
function isCut(request: Incoming): boolean {
  if (request instanceof IncomingMessage) return request.socket.destroyed;
  const stream = request instanceof Http2ServerRequest ? request.stream : request;
  return stream.closed;
}
