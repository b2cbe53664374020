import type { FastifyInstance } from "fastify";
import { Exchange, type Watcher } from "../telemetry/exchange.js";
import { outcomeOf } from "./errors.js";
import { giveOverdue } from "./turn.js";

/**
 * Begins an exchange for each request, before any other hook, and ends it where
 * Fastify sends the answer. Whoever sends one past Fastify ends it himself.
 */
export function watch(server: FastifyInstance, watchers: readonly Watcher[]): void {
  // A getter would not do: the place has to be there before the first request, for the sake of its hidden class.
  server.decorateRequest("exchange");
  server.addHook("onRequest", (request, _reply, done) => {
    request.exchange = new Exchange(request, watchers);
    giveOverdue(request.exchange.begun);
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    const { exchange } = request;
    if (exchange.operation === "") exchange.operation = request.routeOptions.config.operation ?? "";
    exchange.end(outcomeOf(reply.statusCode));
    done();
  });
}
