/** Step 2: the whole body, within a limit. */
import { IncomingMessage } from "node:http";
import { Http2ServerRequest } from "node:http2";
import { TLSSocket } from "node:tls";
import { ConnectError } from "@connectrpc/connect";
import { drainBody, type Incoming } from "../drain-body.js";
import { refusal } from "../error-details.js";
import { enqueue } from "./response-batching.js";

/** Larger requests take longer than batching saves. */
const MAX_BATCHED_BYTES = 4_096;

const NO_BYTES = Buffer.alloc(0);

/** Calls `done` once: with the body, resource_exhausted beyond `limit` bytes, or undefined if the client is gone. */
export function readBody(
  request: Incoming,
  limit: number,
  done: (body: Buffer | ConnectError | undefined) => void,
): void {
  let first: Buffer | undefined;
  let chunks: Buffer[] | undefined;
  let length = 0;
  let isComplete = false;
  let isDone = false;
  const finish = (result: Buffer | ConnectError | undefined) => {
    if (isDone) return;
    isDone = true;
    done(result);
  };
  // The client may have left while an asynchronous hook ran; no event follows then.
  if (request.destroyed) return finish(undefined);
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      void drainBody(request).then(() => finish(messageTooLarge(limit)));
    } else if (first === undefined) first = chunk;
    else (chunks ??= [first]).push(chunk);
  };
  const finishWithBody = () => {
    // A reset HTTP/2 stream emits "end" like a complete one.
    if (isClosed(request)) finish(undefined);
    else finish(chunks === undefined ? (first ?? NO_BYTES) : Buffer.concat(chunks, length));
  };
  const onEnd = () => {
    isComplete = true;
    if (length <= MAX_BATCHED_BYTES && !mayCloseWithRequest(request)) enqueue(finishWithBody);
    else finishWithBody();
  };
  const onClose = () => {
    // A request that was read to its end emits "close" too.
    if (!isComplete) finish(undefined);
  };
  request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
}

export const messageTooLarge = (limit: number): ConnectError =>
  refusal("BODY_TOO_LARGE", `the message is larger than ${limit} bytes, the limit of this service`);

// Over TLS, FIN may arrive in the same read as the request, and Node.js closes its side before the tick ends: such a
// request is answered at once. In cleartext FIN arrives in a later read, and HTTP/2 streams end on their own.
function mayCloseWithRequest(request: Incoming): boolean {
  return request instanceof IncomingMessage && request.socket instanceof TLSSocket;
}

function isClosed(request: Incoming): boolean {
  if (request instanceof IncomingMessage) return request.socket.destroyed;
  const stream = request instanceof Http2ServerRequest ? request.stream : request;
  return stream.closed;
}
