/** The table of routes, and what requests without a route get from it: 404, or 405 with `Allow`. */
import { constants, type Http2ServerRequest } from "node:http2";
import type { FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { drainBody } from "../bodies.js";
import { httpError, rejection } from "../errors.js";
import { isComplete } from "../http2-sessions.js";
import { pathOf, sendRestError } from "../reject.js";
import { connectErrorBody, sendRpcError } from "../rpc/errors.js";
import { grpcProtocolOf } from "../rpc/media-types.js";

/** How paths are matched. Clients join a base URL with a trailing slash and a path with a leading one. */
export const ROUTER_OPTIONS = {
  // Longer than any URL that Node.js accepts, so that the rules on fields decide.
  maxParamLength: 64 * 1024,
  ignoreDuplicateSlashes: true,
  ignoreTrailingSlash: true,
} as const;

interface FoundPath<T> {
  readonly byMethod: ReadonlyMap<string, T>;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
}

/** Fastify finds a route by method and path. This finds all routes of a path, as Fastify would. */
export class RouteTable<T> {
  readonly #router = findMyWay(ROUTER_OPTIONS);
  readonly #byUrl = new Map<string, Map<string, T>>();

  /** Adds a route, whose `url` is in the syntax of Fastify. */
  add(methods: string | readonly string[], url: string, route: T): void {
    // The router would take `/docs` and `/docs/` for duplicates.
    const path = url.length > 1 ? url.replace(/\/$/, "") : url;
    let byMethod = this.#byUrl.get(path);
    if (byMethod === undefined) {
      this.#byUrl.set(path, (byMethod = new Map()));
      this.#router.on("GET", path, () => undefined, byMethod);
    }
    for (const method of [methods].flat()) byMethod.set(method, route);
  }

  /** Undefined if the path of a URL has no route, or is malformed. */
  find(url: string): FoundPath<T> | undefined {
    const found = this.#router.find("GET", url);
    if (found === null) return undefined;
    return { byMethod: found.store as ReadonlyMap<string, T>, params: found.params, query: found.searchParams };
  }
}

/** A route of Fastify, as an error about its path needs it. */
export interface ServedRoute {
  readonly url: string;
  /** Whether errors have the form of Connect. */
  readonly isRpc: boolean;
}

const MAX_SHOWN_URL = 200;

/**
 * Answers requests without a route: unimplemented in gRPC's form; otherwise 405 with `Allow` if the path is served by
 * other methods, else 404.
 */
export function noRoute(served: RouteTable<ServedRoute>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { method, originalUrl } = request;
    // Clients of gRPC-Web read a 404 as unimplemented.
    if (grpcProtocolOf(request.raw) === "grpc") return rejectUnknownRpc(request, reply);
    const url = originalUrl.length > MAX_SHOWN_URL ? `${originalUrl.slice(0, MAX_SHOWN_URL)}…` : originalUrl;
    // The server has replaced a URL that the router cannot read.
    if (request.url !== originalUrl) {
      const message = `the path ${url} is malformed: check its percent encoding`;
      return sendRestError(reply, httpError(400, message, originalUrl));
    }
    const { byMethod } = served.find(request.url) ?? {};
    const [route] = byMethod?.values() ?? [];
    // A route for a folder of files has the method, but not the file.
    if (byMethod === undefined || route === undefined || byMethod.has(method))
      return sendRestError(reply, httpError(404, `nothing is served at ${method} ${url}`, pathOf(request)));
    const methods = [...byMethod.keys()].toSorted();
    const message = `the method of ${url} must be ${methods.join(" or ")}, but is ${method}`;
    reply.header("allow", methods.join(", "));
    if (!route.isRpc) return sendRestError(reply, httpError(405, message, route.url));
    await reply.code(405).type("application/json").send(connectErrorBody(405, message));
  };
}

function rejectUnknownRpc(request: FastifyRequest, reply: FastifyReply): void {
  request.record.protocol = "grpc";
  void drainBody(request.raw);
  const name = request.originalUrl.slice(1, MAX_SHOWN_URL);
  sendRpcError(request, reply, rejection("UNKNOWN_OPERATION", `this service has no operation ${name}`));
  // Otherwise a body that never ends would keep the stream: no timeout applies to a stream that has its response.
  const { stream } = request.raw as unknown as Partial<Http2ServerRequest>;
  if (stream === undefined || isComplete(stream)) return;
  const close = () => stream.close(constants.NGHTTP2_NO_ERROR);
  if (stream.writableFinished) close();
  else stream.once("finish", close);
}
