import type { FastifyInstance } from "fastify";
import { Code } from "@connectrpc/connect";
import { REQUEST_ID } from "../../telemetry/request-ids.js";
import { RequestRecord, type RequestObserver } from "../../telemetry/request-record.js";
import { outcomeOf } from "../errors.js";

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
