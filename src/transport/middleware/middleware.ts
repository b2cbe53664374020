import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { admissionError } from "../admission/admission-error.js";
import { createCorsHook, needsCors, type Origins } from "./cors.js";
import { isHealthRequest } from "./health-requests.js";
import { Shedding } from "./load-shedding.js";
import { rejectPath } from "./path-length.js";
import { limitRates, type Rates } from "./rate-limits.js";
import { reject } from "../errors/reject.js";

export interface MiddlewareOptions {
  readonly corsOrigins: Origins;
  /** Longest path with its query. */
  readonly maxPathBytes: number;
  /** Longest wait before a request is handled; 0 for no limit. */
  readonly maxDelayMs: number;
  readonly rates: Rates;
}

/**
 * Adds the hooks that run before the operations. Call it before adding routes, whose hooks answer plain requests
 * themselves. `notFound` answers before the body is read; Fastify would read it first. `hasGuards`: more hooks follow
 * before the routes. Returns the load shedding, to be consulted again when a whole request has arrived.
 */
export async function addMiddleware(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs, rates }: MiddlewareOptions,
  notFound: (request: FastifyRequest, reply: FastifyReply) => void,
  hasGuards = false,
): Promise<Shedding> {
  const shedding = new Shedding(maxDelayMs);
  const corsHook = await createCorsHook(server, corsOrigins);
  const isRateLimited = rates.perClient > 0 || rates.inAll > 0;
  const check = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (request.url.length > maxPathBytes) return rejectPath(request, reply, maxPathBytes);
    if (!isRateLimited && request.is404) return notFound(request, reply);
    const error = admissionError(request) ?? shedding.overloadError(request.record.startedAt);
    if (error === undefined || isHealthRequest(request)) done();
    else reject(request, reply, error);
  };
  // One hook for all checks: every hook costs each request time.
  server.addHook("onRequest", function runChecks(request, reply, done) {
    if (corsHook === undefined || !needsCors(request)) {
      request.record.mayHaveReplyHeaders = isRateLimited || hasGuards;
      check(request, reply, done);
    } else
      corsHook.call(this, request, reply, (error?: Error) =>
        error === undefined ? check(request, reply, done) : done(error),
      );
  });
  await limitRates(server, rates);
  if (isRateLimited) {
    // Requests without a route count against the rates too.
    server.addHook("onRequest", (request, reply, done) => (request.is404 ? notFound(request, reply) : done()));
  }
  return shedding;
}
