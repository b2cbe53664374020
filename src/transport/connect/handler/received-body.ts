import type { IncomingMessage } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { readBody, type ReceivedBody, tooManyBodies } from "../../bodies.js";
import { FRAME_HEADER_BYTES } from "./universal-response.js";

/**
 * The body of a unary request for connect-es, which would keep it chunk by chunk. Counts towards the budget for bodies
 * until `used` settles.
 */
export async function* receivedBody(
  request: FastifyRequest,
  maxBytes: number,
  used: Promise<void>,
): AsyncGenerator<Uint8Array> {
  const { bodies } = request.usage.budgets;
  if (isCompressed(request.raw)) {
    // connect-es decompresses up to the limit.
    if (!bodies.tryTake(maxBytes)) throw tooManyBodies();
    void used.finally(() => bodies.release(maxBytes));
  }
  const body = await new Promise<ReceivedBody>((resolve) => {
    readBody(request, maxBytes + FRAME_HEADER_BYTES, (received) => {
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
