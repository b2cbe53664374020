import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import { cors as connect } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";

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
 * Adds CORS, and the answers to preflights; nothing for "none". It must run before hooks that reject: a page can then read
 * the rejection, and a preflight needs no token. Credentials are off: the service uses no cookies.
 */
export async function addCors(server: FastifyInstance, origins: Origins): Promise<void> {
  if (origins === "none") return;
  const options: FastifyCorsOptions = {
    origin: origins === "any" ? "*" : [...origins],
    methods: METHODS,
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_S,
    credentials: false,
  };
  await server.register(fastifyCors, options);
}

/** OPTIONS without the headers of a preflight is an unsupported method. */
export const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
