import rateLimit from "@fastify/rate-limit";
import { Code } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { retryAfter, reject } from "../reject.js";
import { clientOf } from "./client-address.js";
import { isHealthRequest } from "./health-requests.js";

/** Clients that are remembered at a time, with each operation that they asked for; the oldest are forgotten first. */
const REMEMBERED = 20_000;
const WINDOW_MS = 1_000;

/** Requests a second; 0 for no limit. */
export interface Rates {
  /** From one client for one operation. */
  readonly perClient: number;
  /** From all of them for all operations. */
  readonly inAll: number;
}

/** Refuses what is asked too often. Health is answered always. */
export async function limitRates(server: FastifyInstance, { perClient, inAll }: Rates): Promise<void> {
  if (perClient === 0 && inAll === 0) return;
  // Its own hooks come behind those of the routes, which answer plain requests themselves.
  await server.register(rateLimit, { global: false });
  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string, words: string) => {
    // Each has a memory of its own, which does not take the size of the plugin's.
    const memory = { cache: REMEMBERED };
    const count = server.createRateLimit({ ...memory, max, timeWindow: WINDOW_MS, keyGenerator });
    return async (request: FastifyRequest) => {
      const found = await count(request);
      if (found.isAllowed || !found.isExceeded) return undefined;
      return retryAfter(Code.ResourceExhausted, `${words} ${max} requests a second`, found.ttlInSeconds);
    };
  };
  const limits = [
    ...(perClient > 0 ? [limit(perClient, keyOf, "one client may ask for one operation with at most")] : []),
    ...(inAll > 0 ? [limit(inAll, () => "all", "all clients together may ask with at most")] : []),
  ];
  server.addHook("onRequest", async (request, reply) => {
    if (isHealthRequest(request)) return;
    for (const check of limits) {
      // One behind the other: what the first refuses does not count for the second.
      // oxlint-disable-next-line no-await-in-loop
      const refusal = await check(request);
      if (refusal === undefined) continue;
      reject(request, reply, refusal);
      return reply;
    }
  });
}

function keyOf(request: FastifyRequest): string {
  const { operation = "none" } = request.routeOptions.config;
  return `${clientOf(request.ip)} ${operation}`;
}
