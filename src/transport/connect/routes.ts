import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../operations.js";
import { protocolOf } from "../middleware/protocol.js";
import { setHeaders, hijack } from "../fast-path/send.js";
import { connectUnary } from "../fast-path/connect.js";
import { grpcUnary } from "../fast-path/grpc.js";
import { connectHandlers } from "./connect-handlers.js";
import { endUnencodableError } from "./unencodable-error.js";

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
    for (const { requestPath, serve } of connectHandlers(operations, bodyLimit)) {
      const operation = operations.find(({ name }) => requestPath === `/${name}`);
      if (operation === undefined) throw new Error(`nothing answers ${requestPath}`);
      const short = [connectUnary(operation, bodyLimit), grpcUnary(operation, bodyLimit)];
      const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
        const given = hijack(reply);
        const { record } = request;
        record.operation = operation.name;
        for (const attempt of short) if (attempt(request.raw, reply.raw, given, record)) return;
        setHeaders(reply.raw, given);
        record.protocol = protocolOf(request);
        serve(request, reply).catch((error: unknown) => {
          if (error instanceof URIError && endUnencodableError(request.raw, reply.raw)) return;
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
