import type { FastifyReply, FastifyRequest } from "fastify";
import { httpError } from "../errors.js";
import { sendRestError } from "./rest.js";
import { pathOf } from "./rest-path.js";
import type { ServedMethods } from "./served-methods.js";

const MAX_SHOWN_URL = 200;

/** Answers requests without a route: 405 with `Allow` if the path is served by other methods, otherwise 404. */
export function noRoute(served: ServedMethods) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { method } = request;
    const url = request.url.length > MAX_SHOWN_URL ? `${request.url.slice(0, MAX_SHOWN_URL)}…` : request.url;
    const path = served.find(request.url);
    // A route for a folder of files has the method, but not the file.
    if (path === undefined || path.methods.has(method)) {
      await sendRestError(reply, httpError(404, `nothing is served at ${method} ${url}`, pathOf(request)));
      return;
    }
    const methods = [...path.methods].toSorted();
    const message = `the method of ${url} must be ${methods.join(" or ")}, but is ${method}`;
    reply.header("allow", methods.join(", "));
    await sendRestError(reply, httpError(405, message, path.route));
  };
}
