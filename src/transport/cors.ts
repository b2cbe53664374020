/** What pages of other origins may send and read. */
import type { IncomingHttpHeaders } from "node:http";
import { cors as connect } from "@connectrpc/connect";
import fastifyCors from "@fastify/cors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Allowed origins: any, none but the service's own, or those listed. */
export type Origins = "any" | "none" | readonly string[];

/** How long a browser may cache a preflight, in seconds; no browser caches it longer. */
const MAX_AGE_S = 7200;

const METHODS = ["GET", "HEAD", "POST"];

/** In one piece: the plugin would join a list for each response. */
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
].join(", ");

/**
 * Adds CORS, without the answers to preflights; nothing for "none". It must run before hooks that reject: a page can then
 * read the rejection. Credentials are off: the service uses no cookies. So a page may send any header that it asks for: as
 * any other program, it gains nothing by those that the service does not read.
 */
export async function addCors(server: FastifyInstance, origins: Origins): Promise<void> {
  if (origins === "none") return;
  await server.register(fastifyCors, {
    origin: origins === "any" ? "*" : [...origins],
    methods: METHODS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_S,
    credentials: false,
    // answerPreflight answers: the plugin would refuse other OPTIONS in a form of its own.
    preflightContinue: true,
    strictPreflight: false,
  });
}

/** Answers OPTIONS. Without the headers of a preflight it is an unsupported method: returns false. */
export function answerPreflight(origins: Origins, { headers }: FastifyRequest, reply: FastifyReply): boolean {
  if (origins === "none" || headers.origin === undefined) return false;
  if (headers["access-control-request-method"] === undefined) return false;
  void reply.code(204).header("content-length", "0").send();
  return true;
}

/** The headers of CORS for an answer that is given before Fastify has the request; without an origin, if it is not known. */
export function corsHeaders(origins: Origins, { origin }: IncomingHttpHeaders = {}): Record<string, string> {
  if (origins === "none") return {};
  const exposed = { "access-control-expose-headers": EXPOSED_HEADERS };
  if (origins === "any") return { "access-control-allow-origin": "*", ...exposed };
  const isAllowed = origin !== undefined && origins.includes(origin);
  return { vary: "Origin", ...(isAllowed && { "access-control-allow-origin": origin }), ...exposed };
}
