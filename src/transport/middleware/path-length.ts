import type { FastifyReply, FastifyRequest } from "fastify";
import { httpError, rejection } from "../errors.js";
import { reject } from "../reject.js";
import { sendRestError } from "../rest/rest.js";
import { pathOf } from "../rest/rest-path.js";

/** A URL is ASCII, so its length is its size in bytes. */
export function rejectPath(request: FastifyRequest, reply: FastifyReply, maxBytes: number): void {
  const message = `path of ${request.url.length} bytes exceeds the limit of ${maxBytes} bytes`;
  if (request.routeOptions.config.isRpc === true) reject(request, reply, rejection("PATH_TOO_LONG", message));
  else void sendRestError(reply, httpError(414, message, pathOf(request)));
}
