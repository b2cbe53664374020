import type { FastifyRequest } from "fastify";

const SERVICES = ["offledger.health.", "grpc.health."];

/** Whether an operation tells the health of the service: whoever watches it is never refused. */
export function isHealth(operation: string): boolean {
  return SERVICES.some((service) => operation.startsWith(service));
}

export const isHealthRequest = ({ routeOptions }: FastifyRequest): boolean =>
  isHealth(routeOptions.config.operation ?? "");
