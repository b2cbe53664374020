import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import { cors as connect } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";

/** Allowed origins: any, none but the service's own, or those listed. */
export type Origins = "any" | "none" | readonly string[];

/** How long a browser may cache a preflight, in seconds; no browser caches it longer. */
const MAX_AGE_S = 7200;

const METHODS = ["GET", "HEAD", "POST"];

const ALLOWED_HEADERS = [
  ...connect.allowedHeaders,
  "Authorization",
  "Traceparent",
  "Tracestate",
  "Baggage",
  "X-Request-Id",
  "If-None-Match",
  "Offledger-If-None-Match",
  "Last-Event-ID",
];

const EXPOSED_HEADERS = [
  ...connect.exposedHeaders,
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
  "Date",
  "ETag",
  "Offledger-Generation",
  "Offledger-Offset",
  "Offledger-Record-Time",
  "Offledger-Valid-Until",
  "Offledger-Tags",
  "Offledger-Not-Modified",
];

/**
 * Creates the CORS hook and the preflight route; undefined for "none". It must run before hooks that reject: a page can
 * then read the rejection, and a preflight needs no token. Credentials are off: the service uses no cookies.
 */
export async function createCorsHook(
  server: FastifyInstance,
  origins: Origins,
): Promise<onRequestHookHandler | undefined> {
  if (origins === "none") return undefined;
  let corsHook: onRequestHookHandler | undefined;
  const addHook = (_name: "onRequest", hook: onRequestHookHandler) => {
    corsHook = hook;
  };
  const options: FastifyCorsOptions = {
    origin: origins === "any" ? "*" : [...origins],
    methods: METHODS,
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_S,
    credentials: false,
  };
  // The plugin gets a server whose addHook hands the hook over, so that not every request pays for it.
  await new Promise<void>((resolve, reject) => {
    fastifyCors(Object.create(server, { addHook: { value: addHook } }) as FastifyInstance, options, (error) =>
      error === undefined ? resolve() : reject(error),
    );
  });
  return corsHook;
}

/**
 * A POST without an origin comes from no browser, and its response is not cached. A response to GET may be cached, so
 * it carries the headers without an origin too. OPTIONS without the preflight headers is an unsupported method.
 */
export function needsCors({ raw }: FastifyRequest): boolean {
  const { method, headers } = raw;
  if (method === "OPTIONS") {
    return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
  }
  return method !== "POST" || headers.origin !== undefined;
}
