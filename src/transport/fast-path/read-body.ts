/** Step 2: the whole body, within the limit of a message and the budget of all bodies. */
import { IncomingMessage } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { BodyBuffer, type BodyOptions } from "../body-buffer.js";
import { drainBody, type Incoming } from "../drain-body.js";
import { rejection } from "../errors.js";
import type { Budget } from "../limits.js";

const RETRY_SECONDS = 1;

/** Undefined if the client is gone. */
export type ReceivedBody = Buffer | ConnectError | undefined;

/**
 * Calls `done` once: with the body, or resource_exhausted beyond the limit, or unavailable beyond the budget. The body
 * counts towards the budget until `done` returns, or its promise settles, which must not reject.
 */
export function readBody(
  request: Incoming,
  budget: Budget,
  options: BodyOptions,
  done: (body: ReceivedBody) => void | Promise<void>,
): void {
  const body = new BodyBuffer(budget, options);
  const { limit } = options;
  let isComplete = false;
  let isDone = false;
  const finish = (result: ReceivedBody) => {
    if (isDone) return;
    isDone = true;
    const used = done(result);
    if (used === undefined) body.release();
    else void used.finally(() => body.release());
  };
  // The client may have left while an asynchronous hook ran; no event follows then.
  if (request.destroyed) return finish(undefined);
  const refuse = (error: ConnectError) => {
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    body.release();
    void finishAfterDrain(error);
  };
  const finishAfterDrain = async (error: ConnectError) => {
    await drainBody(request);
    finish(error);
  };
  const onData = (chunk: Buffer) => {
    if (body.length + chunk.length > limit) return refuse(messageTooLarge(limit));
    if (!body.add(chunk)) return refuse(tooManyBodies());
  };
  const onEnd = () => {
    isComplete = true;
    // A reset HTTP/2 stream emits "end" like a complete one.
    finish(isClosed(request) ? undefined : body.share());
  };
  const onClose = () => {
    // A request that was read to its end emits "close" too.
    if (!isComplete) finish(undefined);
  };
  request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
}

export const messageTooLarge = (limit: number): ConnectError =>
  rejection("BODY_TOO_LARGE", `the message is larger than ${limit} bytes, the limit of this service`);

export const tooManyBodies = (): ConnectError =>
  rejection("OVERLOADED", "too many large requests are being received; retry later", { retrySeconds: RETRY_SECONDS });

/** The content-length of a request; undefined without a valid one. */
export function contentLength({ headers }: Pick<IncomingMessage, "headers">): number | undefined {
  const length = Number(headers["content-length"]);
  return length >= 0 ? length : undefined;
}

function isClosed(request: Incoming): boolean {
  if (request instanceof IncomingMessage) return request.socket.destroyed;
  const stream = request instanceof Http2ServerRequest ? request.stream : request;
  return stream.closed;
}
