/** What stands before the operations, in its order: whatever costs least is looked at first. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { cors, needsCors, type Origins } from "./cors.js";
import { refusePath } from "./path-length.js";
import { limitRates, type Rates } from "./rate-limits.js";
import { Shedding } from "./load-shedding.js";
import { isHealthRequest } from "./health-requests.js";
import { reject } from "../reject.js";

export interface MiddlewareOptions {
  readonly corsOrigins: Origins;
  readonly maxPathBytes: number;
  /** 0 for never. */
  readonly maxDelayMs: number;
  readonly rates: Rates;
}

/** What holds where nothing else is said. */
export const DEFAULT_MIDDLEWARE: MiddlewareOptions = {
  corsOrigins: "any",
  maxPathBytes: 12_288,
  maxDelayMs: 250,
  rates: { perClient: 0, inAll: 0 },
};

/**
 * To be put before the routes: plain requests are answered by hooks of theirs. `notFound` answers what has no route,
 * before a body is read, which Fastify would answer for by itself where it cannot be. `hasMore` says whether more hooks
 * stand between it and the routes. Gives what has to be asked once more when a request has come whole.
 */
export async function addMiddleware(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs, rates }: MiddlewareOptions,
  notFound: (request: FastifyRequest, reply: FastifyReply) => void,
  hasMore = false,
): Promise<Shedding> {
  const shedding = new Shedding(maxDelayMs);
  const allowPages = await cors(server, corsOrigins);
  const isRated = rates.perClient > 0 || rates.inAll > 0;
  const look = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (request.url.length > maxPathBytes) return refusePath(request, reply, maxPathBytes);
    if (!isRated && request.is404) return notFound(request, reply);
    const refusal = shedding.refusal(request.record.startedAt);
    if (refusal === undefined || isHealthRequest(request)) done();
    else reject(request, reply, refusal);
  };
  // One hook for all: each costs every request something.
  server.addHook("onRequest", function before(request, reply, done) {
    // First, so that a page can read why it was refused.
    if (allowPages === undefined || !needsCors(request)) {
      request.record.mayHaveReplyHeaders = isRated || hasMore;
      look(request, reply, done);
    } else
      allowPages.call(this, request, reply, (error?: Error) =>
        error === undefined ? look(request, reply, done) : done(error),
      );
  });
  await limitRates(server, rates);
  if (isRated) {
    // Who asks for what there is not is counted too.
    server.addHook("onRequest", (request, reply, done) => (request.is404 ? notFound(request, reply) : done()));
  }
  return shedding;
}
