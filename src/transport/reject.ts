import type { IncomingMessage } from "node:http";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Protocol } from "../telemetry/request-record.js";
import { abandonBody, drainBody } from "./bodies.js";
import { type RestError, toRestError } from "./errors.js";
import { sendRpcError } from "./rpc/errors.js";

/** Rejects a request before its operation is called, in the form of its protocol, and drains its body up to a bound. */
export function reject(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { record, raw } = request;
  record.protocol = protocolOf(request);
  if (error.code === Code.Unavailable && raw.httpVersionMajor === 1) abandonBody(raw);
  else void drainBody(raw);
  if (record.protocol !== "rest") return sendRpcError(request, reply, error);
  record.complete(error.code);
  void sendRestError(reply, toRestError(error, pathOf(request)));
}

export async function sendRestError(reply: FastifyReply, { status, headers, body }: RestError): Promise<void> {
  await reply.code(status).headers(headers).type("application/json").send(JSON.stringify(body));
}

/** The path of the matched route, or the requested path as the router normalises it. Selects the form of an error. */
export function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url.replaceAll(/\/{2,}/g, "/");
}

export function protocolOf({ raw, routeOptions }: FastifyRequest): Protocol {
  if (routeOptions.config.isRpc !== true) return "rest";
  return grpcProtocolOf(raw) ?? "connect";
}

/** The protocol of a request by its content type; undefined if it is neither gRPC nor gRPC-Web. */
export function grpcProtocolOf({ headers }: Pick<IncomingMessage, "headers">): "grpc" | "grpc-web" | undefined {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : undefined;
}
