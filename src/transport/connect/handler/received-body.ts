import type { IncomingMessage } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { contentLength, readBody, type ReceivedBody, tooManyBodies } from "../../fast-path/read-body.js";
import { FRAME_HEADER_BYTES } from "./universal-response.js";

/**
 * The body of a unary request for connect-es, which would keep it chunk by chunk. Counts towards the budget for bodies
 * until `used` settles.
 */
export async function* receivedBody(
  { raw, usage }: FastifyRequest,
  maxBytes: number,
  used: Promise<void>,
): AsyncGenerator<Uint8Array> {
  const { bodies } = usage.budgets;
  if (isCompressed(raw)) {
    // connect-es decompresses up to the limit.
    if (!bodies.tryTake(maxBytes)) throw tooManyBodies();
    void used.finally(() => bodies.release(maxBytes));
  }
  const options = { limit: maxBytes + FRAME_HEADER_BYTES, expected: contentLength(raw) };
  const body = await new Promise<ReceivedBody>((resolve) => {
    readBody(raw, bodies, options, (received) => {
      resolve(received);
      return used;
    });
  });
  if (body === undefined) throw clientGone();
  if (body instanceof ConnectError) throw body;
  if (body.length > 0) yield body;
}

function isCompressed({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"] ?? headers["grpc-encoding"];
  return encoding !== undefined && encoding !== "identity";
}

const clientGone = (): ConnectError => new ConnectError("the client is gone", Code.Aborted);
