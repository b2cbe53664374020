import type { FastifyReply, FastifyRequest } from "fastify";
import { httpError, malformed } from "../errors.js";
import { reject } from "../reject.js";
import { sendRestError } from "../rest/rest.js";
import { pathOf } from "../rest/rest-path.js";

/** Refuses a request whose path with its query is longer than so many bytes. A path has no characters but those of ASCII. */
export function refusePath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `the path has ${request.url.length} bytes, and ${maxBytes} are all that is read`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, malformed(message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
