import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Logger, pino } from "pino";
import { type MiddlewareOptions, addMiddleware } from "./middleware/middleware.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { docs } from "./rest/docs-page.js";
import { httpError } from "./errors.js";
import type { Certificate } from "./listener/certificate.js";
import type { ConnectionLimits } from "./listener/limits.js";
import { Listener } from "./listener/listener.js";
import { operations } from "./operations.js";
import type { RequestObserver } from "../telemetry/request-record.js";
import { sendShutdownResponse } from "./shutdown-response.js";
import { clientErrorHandler } from "./listener/client-error-handler.js";
import { recordRequests } from "./middleware/record-requests.js";
import type { ArgumentLimits } from "./decoding/argument-limits.js";
import { pathOf, rest, send } from "./rest/rest.js";
import { rpc } from "./connect/routes.js";

const MIB = 1024 * 1024;

/** Longest value of a path parameter. Longer than the URL that Node.js accepts, so that the rules on fields decide. */
const MAX_PARAM_LENGTH = 64 * 1024;

/** A server that answers by REST, Connect, gRPC and gRPC-Web on one port. */
export interface Server {
  /** Where the service logs: JSON lines on standard error. */
  readonly log: Logger;
  /** Begins to listen, and returns the base URL. */
  listen(host: string, port: number): Promise<string>;
  /** Takes no more requests, ends those under way, and after `graceMs` cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** Adds hooks to a server that has no routes yet, and refuses with them what is not to be answered. */
export type Guard = (server: FastifyInstance, log: Logger) => void | Promise<void>;

export interface ServerOptions {
  /** Least level of what is logged on standard error, where `log` is not given. */
  readonly logLevel: string;
  /** Where the service logs. */
  readonly log?: Logger;
  /** Told of each request when it has been answered. */
  readonly observers?: readonly RequestObserver[];
  /** Largest body of a request, in bytes; 1 MiB, twenty times a settlement of the worst case, where it is not said. */
  readonly maxBodyBytes?: number;
  /** Serves more beside the operations; given where to tell of what is a defect. */
  readonly plugin?: (report: (defect: unknown) => void) => (server: FastifyInstance) => Promise<void>;
  readonly connections: ConnectionLimits;
  readonly middleware: MiddlewareOptions;
  /** What stands before the routes besides, in this order. */
  readonly guards?: readonly Guard[];
  readonly arguments?: ArgumentLimits;
  /** Without it the port is cleartext. */
  readonly certificate?: Certificate | undefined;
  /** Addresses and networks of proxies, which tell where a request came from. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The OpenAPI document of the paths, for the page that shows them. */
  readonly openApi: object;
}

export async function createServer(bindings: readonly ServiceBinding[], options: ServerOptions): Promise<Server> {
  const { connections, maxBodyBytes = MIB, certificate } = options;
  const listener = new Listener(connections, certificate);
  // Fastify has none: it would make another for each request.
  const log = options.log ?? pino({ level: options.logLevel }, process.stderr);
  const server: FastifyInstance = fastify({
    serverFactory: listener.factory,
    bodyLimit: maxBodyBytes,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    // Callers put a base URL that ends in a slash before a path that begins with one.
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      void send(reply, httpError(error.statusCode ?? 400, error.message, pathOf(request)));
    },
    clientErrorHandler: clientErrorHandler(connections.requestMs),
  });
  recordRequests(server, options.observers ?? []);
  const { middleware, guards = [] } = options;
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) => void notFound(request, reply);
  const shedding = await addMiddleware(server, middleware, answerNotFound, guards.length > 0);
  // One behind the other: the order is that of the hooks.
  // oxlint-disable-next-line no-await-in-loop
  for (const more of guards) await more(server, log);
  const report = (defect: unknown, rpcName?: string) => log.error({ err: defect, rpc: rpcName }, "a request failed");
  const served = operations(bindings, report, options.arguments, () => shedding.overloadError());
  server.setNotFoundHandler(notFound);
  await server.register(rest(served, maxBodyBytes, report));
  await server.register(rpc(served, maxBodyBytes, report));
  if (options.plugin !== undefined) {
    await server.register(options.plugin(report));
  }
  await server.register(docs(options.openApi));
  server.addHook("preClose", (done) => {
    listener.drain(sendShutdownResponse);
    done();
  });
  return {
    log,
    async listen(host, port) {
      const url = await server.listen({ host, port });
      certificate?.watch(log);
      // Fastify does not know of the TLS before it.
      return certificate === undefined ? url : url.replace(/^http:/, "https:");
    },
    async close(graceMs) {
      certificate?.close();
      const timer = setTimeout(() => listener.destroy(), graceMs);
      try {
        await server.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function notFound(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const asked = request.url.length > 200 ? `${request.url.slice(0, 200)}…` : request.url;
  await send(reply, httpError(404, `nothing is served at ${request.method} ${asked}`, pathOf(request)));
}
