import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import underPressure from "@fastify/under-pressure";
import { constants } from "node:http2";
import { Code } from "@connectrpc/connect";
import { addCors, isPreflight, type Origins } from "./cors.js";
import { isHealthRequest } from "./health-requests.js";
import { rejectPath } from "./path-length.js";
import { limitRates, type Rates } from "./rate-limits.js";
import { reject } from "../reject.js";
import { rejection } from "../errors.js";
import { budgetError, resetOverHttp2 } from "../limits.js";

/** Created once, because errors are expensive. */
const OVERLOADED = rejection("OVERLOADED", "server overloaded; retry later", { retrySeconds: 1 });

export interface MiddlewareOptions {
  readonly corsOrigins: Origins;
  /** Longest path with its query. */
  readonly maxPathBytes: number;
  /** Delay of the event loop, on average over a second, from which on requests are rejected; 0 for no limit. */
  readonly maxDelayMs: number;
  readonly rates: Rates;
}

/**
 * Adds the hooks that run before those of guards and routes. `notFound` answers before the body is read; Fastify would
 * read it first.
 */
export async function addMiddleware(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs, rates }: MiddlewareOptions,
  notFound: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  // It only measures: health requests are exempt, and others are rejected in the form of their protocol.
  const pressure = { maxEventLoopDelay: maxDelayMs, pressureHandler: () => undefined };
  if (maxDelayMs > 0) await server.register(underPressure, pressure);
  server.addHook("onRequest", (request, reply, done) => {
    if (request.method === "OPTIONS" && !isPreflight(request)) notFound(request, reply);
    else done();
  });
  await addCors(server, corsOrigins);
  const isRateLimited = rates.perClient > 0 || rates.inAll > 0;
  server.addHook("onRequest", (request, reply, done) => {
    if (request.url.length > maxPathBytes) return rejectPath(request, reply, maxPathBytes);
    if (!isRateLimited && request.is404) return notFound(request, reply);
    if (isHealthRequest(request)) return done();
    const overBudget = budgetError(request.usage.budgets);
    if (overBudget !== undefined && resetOverHttp2(request, constants.NGHTTP2_REFUSED_STREAM)) {
      reply.hijack();
      return request.record.complete(Code.Unavailable);
    }
    const error = overBudget ?? (maxDelayMs > 0 && server.isUnderPressure() ? OVERLOADED : undefined);
    if (error === undefined) done();
    else reject(request, reply, error);
  });
  await limitRates(server, rates);
  if (isRateLimited) {
    // Requests without a route count against the rates too.
    server.addHook("onRequest", (request, reply, done) => (request.is404 ? notFound(request, reply) : done()));
  }
}
