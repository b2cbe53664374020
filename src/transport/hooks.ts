import { constants } from "node:http2";
import { isIP } from "node:net";
import { Code, cors as connect } from "@connectrpc/connect";
import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import rateLimit from "@fastify/rate-limit";
import underPressure from "@fastify/under-pressure";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { REQUEST_ID, type RequestObserver, RequestRecord } from "../telemetry/request-record.js";
import { httpError, outcomeOf, rejection } from "./errors.js";
import { budgetError, resetOverHttp2 } from "./limits.js";
import { pathOf, reject, sendRestError } from "./reject.js";

/** Created once, because errors are expensive. */
const OVERLOADED = rejection("OVERLOADED", "server overloaded; retry later", { retrySeconds: 1 });

export interface HookOptions {
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
export async function addHooks(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs, rates }: HookOptions,
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

/** Call it before adding other hooks. Code that sends a response past Fastify must complete the record itself. */
export function recordRequests(server: FastifyInstance, observers: readonly RequestObserver[]): void {
  // Declared now so that every request has the same hidden class. A getter would not reserve the slot.
  server.decorateRequest("record");
  server.addHook("onRequest", (request, reply, done) => {
    request.record = new RequestRecord(request, observers);
    // Where the client has left before its response.
    reply.raw.once("close", () => request.record.complete(Code.Canceled));
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    const { record } = request;
    if (record.operation === "") record.operation = request.routeOptions.config.operation ?? "";
    reply.header(REQUEST_ID, record.requestId);
    record.complete(outcomeOf(reply.statusCode));
    done();
  });
}

const HEALTH_PACKAGES = ["offledger.health.", "grpc.health."];

/** Whether an operation reports health. Limits never apply to those: a probe must get its response. */
export function isHealth(operation: string): boolean {
  return HEALTH_PACKAGES.some((prefix) => operation.startsWith(prefix));
}

const isHealthRequest = ({ routeOptions }: FastifyRequest): boolean => isHealth(routeOptions.config.operation ?? "");

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
 * Adds CORS, and the answers to preflights; nothing for "none". It must run before hooks that reject: a page can then read
 * the rejection, and a preflight needs no token. Credentials are off: the service uses no cookies.
 */
async function addCors(server: FastifyInstance, origins: Origins): Promise<void> {
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
const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

/** Pairs of client and operation that are counted at a time; the least recent are evicted. */
const MAX_TRACKED = 20_000;
const WINDOW_MS = 1_000;

/** Requests per second: of one client to one operation, and of all clients to all operations; 0 for no limit. */
export interface Rates {
  readonly perClient: number;
  readonly inAll: number;
}

/** Rejects requests over the rates. Health requests are exempt. */
async function limitRates(server: FastifyInstance, { perClient, inAll }: Rates): Promise<void> {
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

/** Leading 16-bit parts of an IPv6 address that identify a subscriber; the subscriber chooses the rest. */
const SUBSCRIBER_PARTS = 4;

/** Some proxies append the port, which differs for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/;

/** The IPv4 address, or the first 64 bits of the IPv6 address. "unknown" for other text, which only proxies send. */
export function clientKey(address: string): string {
  const [, bracketed, beforePort] = WITH_PORT.exec(address) ?? [];
  const [bare = ""] = (bracketed ?? beforePort ?? address).split("%");
  // ipaddr.js also takes octal and abbreviated IPv4 addresses.
  if (isIP(bare) === 0) return "unknown";
  // It reads ::192.0.2.1 as ::ffff:192.0.2.1.
  const parsed = ipaddr.process(bare.replace(/^::(?=\d+\.)/, "0::"));
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts
    .slice(0, SUBSCRIBER_PARTS)
    .map((part) => part.toString(16))
    .join(":");
}

/** A URL is ASCII, so its length is its size in bytes. */
function rejectPath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `path of ${request.url.length} bytes exceeds the limit of ${maxBytes} bytes`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, rejection("PATH_TOO_LONG", message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
