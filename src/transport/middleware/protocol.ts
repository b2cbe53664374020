import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";

export function protocolOf({ raw, routeOptions }: FastifyRequest): Protocol {
  if (routeOptions.config.isRpc !== true) return "rest";
  return grpcProtocolOf(raw) ?? "connect";
}

/** The protocol of a request by its content type; undefined if it is neither gRPC nor gRPC-Web. */
export function grpcProtocolOf({ headers }: IncomingMessage): "grpc" | "grpc-web" | undefined {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : undefined;
}
