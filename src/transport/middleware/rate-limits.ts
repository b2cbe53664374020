import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { rejection } from "../errors.js";
import { reject } from "../reject.js";
import { clientKey } from "./client-address.js";
import { isHealthRequest } from "./health-requests.js";

/** Pairs of client and operation that are counted at a time; the least recent are evicted. */
const MAX_TRACKED = 20_000;
const WINDOW_MS = 1_000;

/** Requests per second: of one client to one operation, and of all clients to all operations; 0 for no limit. */
export interface Rates {
  readonly perClient: number;
  readonly inAll: number;
}

/** Rejects requests over the rates. Health requests are exempt. */
export async function limitRates(server: FastifyInstance, { perClient, inAll }: Rates): Promise<void> {
  if (perClient === 0 && inAll === 0) return;
  // The plugin's own hooks run after those of the routes, which answer plain requests themselves.
  await server.register(rateLimit, { global: false });
  const createLimit = (max: number, scope: string, keyGenerator: (request: FastifyRequest) => string) => {
    // Each limit has a store of its own, which does not inherit the size from the plugin.
    const storeOptions = { cache: MAX_TRACKED };
    const count = server.createRateLimit({ ...storeOptions, max, timeWindow: WINDOW_MS, keyGenerator });
    return async (request: FastifyRequest) => {
      const result = await count(request);
      if (result.isAllowed || !result.isExceeded) return undefined;
      const message = `rate limit exceeded: ${max} requests per second ${scope}`;
      return rejection("RATE_LIMITED", message, { retrySeconds: result.ttlInSeconds });
    };
  };
  const limits = [
    ...(perClient > 0 ? [createLimit(perClient, "per client and operation", clientAndOperation)] : []),
    ...(inAll > 0 ? [createLimit(inAll, "in total", () => "all")] : []),
  ];
  server.addHook("onRequest", async (request, reply) => {
    if (isHealthRequest(request)) return;
    for (const check of limits) {
      // In sequence: a rejected request must not count for the next limit.
      // oxlint-disable-next-line no-await-in-loop
      const error = await check(request);
      if (error === undefined) continue;
      reject(request, reply, error);
      return reply;
    }
  });
}

function clientAndOperation(request: FastifyRequest): string {
  const { operation = "none" } = request.routeOptions.config;
  return `${clientKey(request.ip)} ${operation}`;
}
