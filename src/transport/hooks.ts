import { constants } from "node:http2";
import { Code } from "@connectrpc/connect";
import underPressure from "@fastify/under-pressure";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID, type RequestObserver, RequestRecord } from "../telemetry/request-record.js";
import { addCors, type Origins } from "./cors.js";
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
  await addCors(server, corsOrigins, notFound);
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

/** A URL is ASCII, so its length is its size in bytes. */
function rejectPath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `path of ${request.url.length} bytes exceeds the limit of ${maxBytes} bytes`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, rejection("PATH_TOO_LONG", message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
