import { constants, type Http2ServerRequest } from "node:http2";
import type { FastifyReply, FastifyRequest, onRouteHookHandler } from "fastify";
import findMyWay from "find-my-way";
import { drainBody } from "../bodies.js";
import { httpError, rejection } from "../errors.js";
import { isComplete } from "../http2-sessions.js";
import { grpcProtocolOf, pathOf, sendRestError } from "../reject.js";
import { connectErrorBody, sendRpcError } from "../rpc/errors.js";

const MAX_SHOWN_URL = 200;

/**
 * Answers requests without a route: unimplemented in gRPC's form; otherwise 405 with `Allow` if the path is served by
 * other methods, else 404.
 */
export function noRoute(served: ServedMethods) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { method, originalUrl } = request;
    // Clients of gRPC-Web read a 404 as unimplemented.
    if (grpcProtocolOf(request.raw) === "grpc") return rejectUnknownRpc(request, reply);
    const url = originalUrl.length > MAX_SHOWN_URL ? `${originalUrl.slice(0, MAX_SHOWN_URL)}…` : originalUrl;
    // The server has replaced a URL that the router cannot read.
    if (request.url !== originalUrl) {
      await sendRestError(
        reply,
        httpError(400, `the path ${url} is malformed: check its percent encoding`, originalUrl),
      );
      return;
    }
    const path = served.find(request.url);
    // A route for a folder of files has the method, but not the file.
    if (path === undefined || path.methods.has(method)) {
      await sendRestError(reply, httpError(404, `nothing is served at ${method} ${url}`, pathOf(request)));
      return;
    }
    const methods = [...path.methods].toSorted();
    const message = `the method of ${url} must be ${methods.join(" or ")}, but is ${method}`;
    reply.header("allow", methods.join(", "));
    if (path.isRpc) await reply.code(405).type("application/json").send(connectErrorBody(405, message));
    else await sendRestError(reply, httpError(405, message, path.route));
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

/** A path that is served, by some methods. */
export interface ServedPath {
  /** In the syntax of the router. */
  readonly route: string;
  readonly methods: Set<string>;
  /** Whether the path is the one of an rpc, whose errors have the form of Connect. */
  readonly isRpc: boolean;
}

/** The router that Fastify uses looks routes up by method and path. This one finds the methods of a path. */
export class ServedMethods {
  readonly #router: findMyWay.Instance<findMyWay.HTTPVersion.V1>;
  readonly #byRoute = new Map<string, ServedPath>();

  /** `options` are those of the router of Fastify. */
  constructor(options: findMyWay.Config<findMyWay.HTTPVersion.V1>) {
    this.#router = findMyWay(options);
  }

  /** Adds a route. A hook of type onRoute, for the plugins whose paths count. */
  readonly add: onRouteHookHandler = ({ url, method }) => this.#add(url, [method].flat(), false);

  /** Adds an rpc. Its routes take every method that Fastify knows, to refuse most of them. */
  addRpc(path: string, methods: readonly string[]): void {
    this.#add(path, methods, true);
  }

  #add(url: string, methods: readonly string[], isRpc: boolean): void {
    // The router would take `/docs` and `/docs/` for duplicates.
    const route = url.length > 1 ? url.replace(/\/$/, "") : url;
    let path = this.#byRoute.get(route);
    if (path === undefined) {
      path = { route, methods: new Set(), isRpc };
      this.#byRoute.set(route, path);
      this.#router.on("GET", route, () => undefined, path);
    }
    for (const method of methods) path.methods.add(method);
  }

  /** The path of a URL; undefined if nothing is served there. */
  find(url: string): ServedPath | undefined {
    return this.#router.find("GET", url)?.store as ServedPath | undefined;
  }
}
