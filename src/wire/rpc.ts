import type { ConnectRouter } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance } from "fastify";
import type { Operation } from "./operations.js";
import { jsonWriting } from "./rest.js";
import { blameCaller } from "./undecodable.js";

/** The largest that connect-es allows: answers are base64 of what does not compress, and are sent as they are. */
const NEVER_COMPRESS = 0xffffffff;

/** Serves the operations by Connect, gRPC and gRPC-Web. */
export function rpc(operations: readonly Operation[], bodyLimit: number) {
  return async (server: FastifyInstance): Promise<void> => {
    await server.register(fastifyConnectPlugin, {
      routes(router: ConnectRouter) {
        for (const { method, call } of operations) router.rpc(method, (request) => call(request));
        router.handlers.splice(0, router.handlers.length, ...router.handlers.map(blameCaller));
      },
      jsonOptions: { ...jsonWriting, ignoreUnknownFields: true },
      readMaxBytes: bodyLimit,
      // Requests may come compressed.
      acceptCompression: [compressionGzip],
      compressMinBytes: NEVER_COMPRESS,
    });
  };
}
