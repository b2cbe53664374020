import type { IncomingMessage } from "node:http";
import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "./operations.js";
import { jsonWriting } from "./rest.js";
import { blameCaller } from "./undecodable.js";
import { readRest } from "./unread.js";

/** The largest that connect-es allows: answers are base64 of what does not compress, and are sent as they are. */
const NEVER_COMPRESS = 0xffffffff;

/** Serves the operations by Connect, gRPC and gRPC-Web. `report` is told of what goes wrong while an answer is sent. */
export function rpc(operations: readonly Operation[], bodyLimit: number, report: (defect: unknown) => void) {
  return async (server: FastifyInstance): Promise<void> => {
    const router = createConnectRouter({
      jsonOptions: { ...jsonWriting, ignoreUnknownFields: true },
      readMaxBytes: bodyLimit,
      // Requests may come compressed.
      acceptCompression: [compressionGzip],
      compressMinBytes: NEVER_COMPRESS,
    });
    for (const { method, call } of operations) router.rpc(method, (request) => call(request));
    // The protocols read the body themselves.
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const handler of router.handlers) {
      const serve = serveWith(blameCaller(handler));
      server.all(handler.requestPath, (request, reply) => {
        reply.hijack();
        serve(request, reply).catch((error: unknown) => {
          // Who has gone needs no answer.
          if (ConnectError.from(error).code !== Code.Aborted) report(error);
          reply.raw.destroy();
        });
      });
    }
  };
}

function serveWith(handler: UniversalHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const asked = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, undefined);
    const answer = await handler({ ...asked, body: bodyOf(request.raw) });
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    await universalResponseToNodeResponse(answer, reply.raw);
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
