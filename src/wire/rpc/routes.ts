import type { IncomingMessage } from "node:http";
import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { jsonWriting } from "../answer/json-writing.js";
import type { Operation } from "../operations.js";
import { connectUnary } from "./connect.js";
import { grpcUnary } from "./grpc.js";
import { outcomeOfAnswer } from "./outcome.js";
import { blameCaller, bytesOf, withBody } from "./undecodable.js";
import { protocolOf } from "../protocol.js";
import { put, takeOver } from "../sending.js";
import { readRest } from "./unread.js";

/** The largest that connect-es allows: answers are base64 of what does not compress, and are sent as they are. */
const NEVER_COMPRESS = 0xffffffff;

/**
 * Serves the operations by Connect, gRPC and gRPC-Web. Plain unary requests by
 * Connect and gRPC, which are nearly all, take a short way of our own; connect-es
 * serves the rest with the same operations: gRPC-Web, GET, compressed requests,
 * deadlines.
 */
export function rpc(operations: readonly Operation[], bodyLimit: number, report: (defect: unknown) => void) {
  return async (server: FastifyInstance): Promise<void> => {
    // Each protocol reads the body itself.
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const { requestPath, serve } of stock(operations, bodyLimit)) {
      const operation = operations.find(({ name }) => requestPath === `/${name}`);
      if (operation === undefined) throw new Error(`nothing answers ${requestPath}`);
      const short = [connectUnary(operation, bodyLimit), grpcUnary(operation, bodyLimit)];
      const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
        const given = takeOver(reply);
        const { exchange } = request;
        exchange.operation = operation.name;
        for (const attempt of short) if (attempt(request.raw, reply.raw, given, exchange)) return;
        put(reply.raw, given);
        exchange.protocol = protocolOf(request);
        serve(request, reply).catch((error: unknown) => {
          // Who has gone needs no answer.
          if (ConnectError.from(error).code !== Code.Aborted) report(error);
          reply.raw.destroy();
        });
      };
      // Behind the hooks of the server, and before Fastify prepares to read a body; so the handler is never reached.
      server.all(requestPath, { onRequest, config: { operation: operation.name, isRpc: true } }, () => undefined);
    }
  };
}

const NOTHING = Buffer.alloc(0);

interface Stock {
  readonly requestPath: string;
  readonly serve: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** The operations as connect-es serves them. */
function stock(operations: readonly Operation[], bodyLimit: number): Stock[] {
  const router = createConnectRouter({
    jsonOptions: { ...jsonWriting, ignoreUnknownFields: true },
    readMaxBytes: bodyLimit,
    // Requests may come compressed.
    acceptCompression: [compressionGzip],
    compressMinBytes: NEVER_COMPRESS,
  });
  for (const { method, call } of operations) router.rpc(method, async (request) => (await call(request)).message());
  return router.handlers.map((handler) => ({
    requestPath: handler.requestPath,
    serve: serveWith(blameCaller(handler)),
  }));
}

function serveWith(handler: UniversalHandler): Stock["serve"] {
  return async (request, reply) => {
    const asked = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, undefined);
    const { exchange } = request;
    try {
      const answer = await handler({ ...asked, body: bodyOf(request.raw) });
      const bytes = exchange.protocol === "grpc-web" ? await bytesOf(answer) : undefined;
      await universalResponseToNodeResponse(bytes === undefined ? answer : withBody(answer, bytes), reply.raw);
      exchange.end(outcomeOfAnswer(answer, exchange.protocol, bytes ?? NOTHING));
    } finally {
      // What has not ended until here has been cut.
      exchange.end(Code.Canceled);
    }
  };
}

/** The body, of which what is not read leaves the connection whole. */
async function* bodyOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // A body that is not decoded comes as bytes.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } finally {
    await readRest(request);
  }
}
