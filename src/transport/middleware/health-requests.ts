import type { FastifyRequest } from "fastify";

const HEALTH_PACKAGES = ["offledger.health.", "grpc.health."];

/** Whether an operation reports health. Limits never apply to those: a probe must get its response. */
export function isHealth(operation: string): boolean {
  return HEALTH_PACKAGES.some((prefix) => operation.startsWith(prefix));
}

export const isHealthRequest = ({ routeOptions }: FastifyRequest): boolean =>
  isHealth(routeOptions.config.operation ?? "");
