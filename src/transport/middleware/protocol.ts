import type { FastifyRequest } from "fastify";
import type { Protocol } from "../../telemetry/request-record.js";

/** By what a request came, as far as its head tells. */
export function protocolOf({ headers, routeOptions }: FastifyRequest): Protocol {
  if (routeOptions.config.isRpc !== true) return "rest";
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
