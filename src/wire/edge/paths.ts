import type { FastifyInstance } from "fastify";
import { httpError, malformed } from "../errors.js";
import { refuse } from "../refusing.js";
import { pathOf, send } from "../rest.js";

/** Refuses requests whose path with its query is longer than so many bytes. */
export function limitPaths(server: FastifyInstance, maxBytes: number): void {
  server.addHook("onRequest", (request, reply, done) => {
    // A path has no characters but those of ASCII.
    if (request.url.length <= maxBytes) return done();
    const message = `the path has ${request.url.length} bytes, and ${maxBytes} are all that is read`;
    if (request.routeOptions.config.isRpc === true) refuse(request, reply, malformed(message));
    else void send(reply, httpError(414, message, pathOf(request)));
  });
}
