import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import { cors as connect } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";

/** Web pages that may ask: those of any origin, of none but the service's own, or of the ones listed. */
export type Origins = "any" | "none" | readonly string[];

/** How long a browser may keep what it was told of a path, in seconds: as long as any of them does. */
const MAX_AGE = 7200;

const METHODS = ["GET", "HEAD", "POST"];

/** Headers that a page may send, besides those that every page may. */
const ALLOWED = [...connect.allowedHeaders, "Authorization", "Traceparent", "Tracestate", "Baggage", "X-Request-Id"];

/** Headers of answers that a page may read. */
const EXPOSED = [...connect.exposedHeaders, "Retry-After", "WWW-Authenticate", "X-Request-Id"];

/**
 * Lets web pages of other origins ask. It stands before all that refuses, so that a page can read why it was refused,
 * and a preflight needs no token. No credentials: nothing here hangs on a cookie, and a page sends a token itself.
 * Gives the hook for the requests that it concerns, and has added a route for preflights; undefined where there is
 * nothing to do.
 */
export async function cors(server: FastifyInstance, origins: Origins): Promise<onRequestHookHandler | undefined> {
  if (origins === "none") return undefined;
  let found: onRequestHookHandler | undefined;
  const take = (_name: "onRequest", hook: onRequestHookHandler) => {
    found = hook;
  };
  const options: FastifyCorsOptions = {
    origin: origins === "any" ? "*" : [...origins],
    methods: METHODS,
    allowedHeaders: ALLOWED,
    exposedHeaders: EXPOSED,
    maxAge: MAX_AGE,
    credentials: false,
  };
  await new Promise<void>((resolve, reject) => {
    fastifyCors(Object.create(server, { addHook: { value: take } }) as FastifyInstance, options, (error) =>
      error === undefined ? resolve() : reject(error),
    );
  });
  return found;
}

/**
 * POST is what nearly everybody does who is no page, and no cache keeps its answers. Those to GET may be kept, so they
 * say without an origin too whom they are for. OPTIONS that is no preflight is a method that is not served.
 */
export function needsCors({ raw }: FastifyRequest): boolean {
  const { method, headers } = raw;
  if (method === "OPTIONS") {
    return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
  }
  return method !== "POST" || headers.origin !== undefined;
}
