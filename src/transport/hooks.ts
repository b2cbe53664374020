import { constants } from "node:http2";
import { Code } from "@connectrpc/connect";
import underPressure from "@fastify/under-pressure";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID, type RequestObserver, RequestRecord } from "../telemetry/request-record.js";
import { addCors, type Origins } from "./cors.js";
import { httpError, outcomeOf, rejection } from "./errors.js";
import { budgetError, type Budgets, resetOverHttp2, Usage } from "./limits.js";
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
  await addCors(server, corsOrigins, notFound);
  server.addHook("onRequest", (request, reply, done) => {
    if (request.url.length > maxPathBytes) return rejectPath(request, reply, maxPathBytes);
    if (request.is404) return notFound(request, reply);
    if (isHealth(request.record.operation)) return done();
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

/**
 * Records and counts each request. Call it before adding other hooks. Code that sends a response past Fastify must complete the
 * record itself. Responses of HTTP/1.1 close their connections while the service drains.
 */
export function recordRequests(
  server: FastifyInstance,
  observers: readonly RequestObserver[],
  budgets: Budgets,
  isDraining: () => boolean,
): void {
  // Declared now so that every request has the same hidden class. A getter would not reserve the slot.
  server.decorateRequest("record").decorateRequest("usage");
  server.addHook("onRequest", (request, reply, done) => {
    const record = new RequestRecord(request, observers);
    record.operation = request.routeOptions.config.operation ?? "";
    request.record = record;
    // Where the client has left before its response.
    request.usage = new Usage(budgets, request.raw, reply.raw, () => record.complete(Code.Canceled));
    if (isDraining() && request.raw.httpVersionMajor === 1) reply.header("connection", "close");
    done();
  });
  server.addHook("onSend", (request, reply, payload, done) => {
    const { record, usage } = request;
    if (typeof payload === "string" || Buffer.isBuffer(payload)) usage.holdResponse(payload.length);
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

/** A URL is ASCII, so its length is its size in bytes. */
function rejectPath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `path of ${request.url.length} bytes exceeds the limit of ${maxBytes} bytes`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, rejection("PATH_TOO_LONG", message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
