import type { FastifyRequest } from "fastify";

/** The path of the matched route, or the requested path as the router normalises it. Selects the form of an error. */
export function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url.replaceAll(/\/{2,}/g, "/");
}
