import { constants, type Http2ServerRequest } from "node:http2";
import type { FastifyReply, FastifyRequest } from "fastify";
import { connectErrorBody, sendRpcError } from "../connect/send-error.js";
import { drainBody } from "../bodies.js";
import { httpError, rejection } from "../errors.js";
import { grpcProtocolOf } from "../middleware/protocol.js";
import { isComplete } from "../sockets.js";
import { sendRestError } from "./rest.js";
import { pathOf } from "./rest-path.js";
import type { ServedMethods } from "./served-methods.js";

const MAX_SHOWN_URL = 200;

/**
 * Answers requests without a route: unimplemented in gRPC's form; otherwise 405 with `Allow` if the path is served by
 * other methods, else 404.
 */
export function noRoute(served: ServedMethods) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { method } = request;
    // Clients of gRPC-Web read a 404 as unimplemented.
    if (grpcProtocolOf(request.raw) === "grpc") return rejectUnknownRpc(request, reply);
    const url = request.url.length > MAX_SHOWN_URL ? `${request.url.slice(0, MAX_SHOWN_URL)}…` : request.url;
    const path = served.find(request.url);
    // A route for a folder of files has the method, but not the file.
    if (path === undefined || path.methods.has(method)) {
      await sendRestError(reply, httpError(404, `nothing is served at ${method} ${url}`, pathOf(request)));
      return;
    }
    const methods = [...path.methods].toSorted();
    const message = `the method of ${url} must be ${methods.join(" or ")}, but is ${method}`;
    reply.header("allow", methods.join(", "));
    if (path.isRpc) await reply.code(405).type("application/json").send(connectErrorBody(405, message));
    else await sendRestError(reply, httpError(405, message, path.route));
  };
}

function rejectUnknownRpc(request: FastifyRequest, reply: FastifyReply): void {
  request.record.protocol = "grpc";
  void drainBody(request.raw);
  const name = request.url.slice(1, MAX_SHOWN_URL);
  sendRpcError(request, reply, rejection("UNKNOWN_OPERATION", `this service has no operation ${name}`));
  // Otherwise a body that never ends would keep the stream: no timeout applies to a stream that has its response.
  const { stream } = request.raw as unknown as Partial<Http2ServerRequest>;
  if (stream === undefined || isComplete(stream)) return;
  const close = () => stream.close(constants.NGHTTP2_NO_ERROR);
  if (stream.writableFinished) close();
  else stream.once("finish", close);
}
