/** Answers a request with an error before its operation is asked, in the words of its protocol. */
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import { toRestError } from "./errors.js";
import { protocolOf } from "./middleware/protocol.js";
import { pathOf } from "./rest/rest.js";
import { setHeaders, sendJson, hijack } from "./fast-path/send.js";
import { sendError } from "./fast-path/connect.js";
import { drainBody } from "./drain-body.js";

/** Ends a request. Its body is read, up to a bound, so that the connection is of use for the next. */
export function reject(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { record, raw } = request;
  record.protocol = protocolOf(request);
  record.operation = request.routeOptions.config.operation ?? "";
  record.complete(error.code);
  void drainBody(raw);
  const given = hijack(reply);
  setHeaders(reply.raw, given);
  if (request.routeOptions.config.isRpc !== true) {
    const { status, headers, body } = toRestError(error, pathOf(request));
    setHeaders(reply.raw, headers);
    sendJson(reply.raw, status, body);
    return;
  }
  if (record.protocol === "connect") {
    sendError(reply.raw, record, error);
    return;
  }
  // Without a message, the trailers of gRPC may stand in the head.
  const headers = ["content-type", request.headers["content-type"] ?? "application/grpc"];
  setTrailerStatus(new Headers(), error).forEach((value, name) => headers.push(name, value));
  reply.raw.writeHead(200, headers);
  reply.raw.end();
}

/** An error with the seconds after which to ask again. */
export function retryAfter(code: Code, message: string, seconds: number): ConnectError {
  return new ConnectError(message, code, { "retry-after": String(seconds) });
}
