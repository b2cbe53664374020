import type { FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";

export function protocolOf({ headers, routeOptions }: FastifyRequest): Protocol {
  if (routeOptions.config.isRpc !== true) return "rest";
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
