import type { FastifyInstance } from "fastify";
import { httpError } from "../errors.js";
import { pathOf, send } from "../rest.js";

/** Refuses requests whose path with its query is longer than so many bytes. */
export function limitPaths(server: FastifyInstance, maxBytes: number): void {
  server.addHook("onRequest", (request, reply, done) => {
    // A path has no characters but those of ASCII.
    if (request.url.length <= maxBytes) return done();
    const message = `the path has ${request.url.length} bytes, and ${maxBytes} are all that is read`;
    void send(reply, httpError(414, message, pathOf(request)));
  });
}
