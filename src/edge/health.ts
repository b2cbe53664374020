import type { FastifyRequest } from "fastify";

const SERVICES = ["offledger.health.", "grpc.health."];

/** Whether a request asks for the health of the service: whoever watches it is never refused. */
export function isHealth({ routeOptions }: FastifyRequest): boolean {
  const { operation = "" } = routeOptions.config;
  return SERVICES.some((service) => operation.startsWith(service));
}
