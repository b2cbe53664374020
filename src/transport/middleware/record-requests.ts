import type { FastifyInstance } from "fastify";
import { RequestRecord, type RequestObserver } from "../../telemetry/request-record.js";
import { outcomeOf } from "../errors.js";
import { flushOverdue } from "../fast-path/response-batching.js";

/**
 * Begins an exchange for each request, before any other hook, and ends it where Fastify sends the answer. Whoever sends
 * one past Fastify ends it himself.
 */
export function recordRequests(server: FastifyInstance, observers: readonly RequestObserver[]): void {
  // A getter would not do: the place has to be there before the first request, for the sake of its hidden class.
  server.decorateRequest("exchange");
  server.addHook("onRequest", (request, _reply, done) => {
    request.record = new RequestRecord(request, observers);
    flushOverdue(request.record.startedAt);
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    const { record } = request;
    if (record.operation === "") record.operation = request.routeOptions.config.operation ?? "";
    record.end(outcomeOf(reply.statusCode));
    done();
  });
}
