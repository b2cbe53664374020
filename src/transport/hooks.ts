import { constants } from "node:http2";
import { Code, cors as connect } from "@connectrpc/connect";
import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import underPressure from "@fastify/under-pressure";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
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
}

/**
 * Adds the hooks that run before those of guards and routes. `notFound` answers before the body is read; Fastify would
 * read it first.
 */
export async function addHooks(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs }: HookOptions,
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
  server.addHook("onRequest", (request, reply, done) => {
    if (request.url.length > maxPathBytes) return rejectPath(request, reply, maxPathBytes);
    if (request.is404) return notFound(request, reply);
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

/** A URL is ASCII, so its length is its size in bytes. */
function rejectPath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `path of ${request.url.length} bytes exceeds the limit of ${maxBytes} bytes`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, rejection("PATH_TOO_LONG", message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
