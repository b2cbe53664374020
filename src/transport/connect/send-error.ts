/** Errors of calls that connect-es does not see. */
import { Readable } from "node:stream";
import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { memoizeLast } from "../../util/memoize-last.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encodable-response.js";
import { outcomeOf, rejection } from "../errors.js";
import { grpcStatus } from "./grpc-status.js";

/** Memoized as `grpcStatus` is. */
const connectErrorBytes = memoizeLast((error: ConnectError) =>
  Buffer.from(errorToJsonBytes(error, JSON_WRITE_OPTIONS)),
);

/** Sends an error in the protocol of the request's record: over gRPC as one HEADERS frame that ends the stream. */
export function sendRpcError(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { raw, record } = request;
  record.complete(error.code);
  if (record.protocol === "connect") {
    reply.headers(Object.fromEntries(error.metadata));
    reply.code(codeToHttpStatus(error.code)).header("content-type", "application/json");
    void reply.send(connectErrorBytes(error));
    return;
  }
  reply.headers(Object.fromEntries(grpcStatus(error)));
  const isHttp2 = raw.httpVersionMajor === 2;
  const contentType =
    record.protocol === "grpc" && isHttp2 ? "application/grpc+proto" : request.headers["content-type"];
  reply.code(200).header("content-type", contentType ?? "application/grpc");
  // Without a body Fastify adds a content-length and does not end the stream, which clients of gRPC take for a broken call.
  void reply.send(isHttp2 ? Readable.from([]) : Buffer.alloc(0));
}

/** The body of Connect for a refusal with a status of HTTP itself, such as 405 or 415. */
export function connectErrorBody(status: number, message: string): Buffer {
  const code = outcomeOf(status);
  if (code === 0) throw new Error(`status ${status} is no refusal`);
  return Buffer.from(errorToJsonBytes(rejection("PROTOCOL_ERROR", message, { code }), JSON_WRITE_OPTIONS));
}
