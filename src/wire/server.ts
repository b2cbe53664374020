import type { IncomingMessage, ServerResponse } from "node:http";
import { fastify, type FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import type { Offered } from "../service/handlers.js";
import { docs } from "./docs.js";
import { httpError } from "./errors.js";
import { Listener } from "./listener.js";
import { operations } from "./operations.js";
import type { Watcher } from "../telemetry/exchange.js";
import { watch } from "./watching.js";
import { pathOf, rest, send } from "./rest.js";
import { rpc } from "./rpc/routes.js";

/** Largest body of a request, in bytes: twenty times a settlement of the worst case. */
const BODY_LIMIT = 1024 * 1024;

/** Longest value of a path parameter. Longer than the URL that Node.js accepts, so that the rules on fields decide. */
const MAX_PARAM_LENGTH = 64 * 1024;

/** What a request is told that comes when no more are taken. */
const STOPPING = "the service is stopping and takes no more requests; ask again";

/** A server that answers by REST, Connect, gRPC and gRPC-Web on one port. */
export interface Server {
  /** Where the service logs: JSON lines on standard error. */
  readonly log: Logger;
  /** Begins to listen, and returns the base URL. */
  listen(host: string, port: number): Promise<string>;
  /** Takes no more requests, ends those under way, and after `graceMs` cuts what is left. */
  close(graceMs: number): Promise<void>;
}

export interface ServerOptions {
  readonly logLevel: string;
  /** Told of each request when it has been answered. */
  readonly watchers?: readonly Watcher[];
  /** The OpenAPI document of the paths, for the page that shows them. */
  readonly openApi: object;
}

export async function createServer(offered: readonly Offered[], options: ServerOptions): Promise<Server> {
  const listener = new Listener();
  // Fastify has none: it would make another for each request.
  const log = pino({ level: options.logLevel }, process.stderr);
  const server: FastifyInstance = fastify({
    serverFactory: listener.factory,
    bodyLimit: BODY_LIMIT,
    // Callers put a base URL that ends in a slash before a path that begins with one.
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      void send(reply, httpError(error.statusCode ?? 400, error.message, pathOf(request)));
    },
    clientErrorHandler: (error, socket) => {
      const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
      const body = JSON.stringify({ error: "this is not an HTTP request that can be read" });
      if (socket.writable) {
        socket.write(
          `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      }
      socket.destroy(error);
    },
  });
  watch(server, options.watchers ?? []);
  const served = operations(offered, (defect, name) => log.error({ err: defect, rpc: name }, "a request failed"));
  server.setNotFoundHandler(async (request, reply) => {
    const asked = request.url.length > 200 ? `${request.url.slice(0, 200)}…` : request.url;
    await send(reply, httpError(404, `nothing is served at ${request.method} ${asked}`, pathOf(request)));
  });
  await server.register(rest(served, BODY_LIMIT, (defect) => log.error({ err: defect }, "a request failed")));
  await server.register(rpc(served, BODY_LIMIT, (defect) => log.error({ err: defect }, "a request failed")));
  await server.register(docs(options.openApi));
  server.addHook("preClose", (done) => {
    listener.drain(refuse);
    done();
  });
  return {
    log,
    listen: (host, port) => server.listen({ host, port }),
    async close(graceMs) {
      const timer = setTimeout(() => listener.destroy(), graceMs);
      try {
        await server.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Answers what comes too late, in the words of its family. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const [path = ""] = (request.url ?? "").replaceAll(/\/{2,}/g, "/").split("?", 1);
  const { status, headers, body } = httpError(503, STOPPING, path);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader("content-type", "application/json; charset=utf-8");
  // Over HTTP/2 the session has been told already.
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  response.statusCode = status;
  response.end(JSON.stringify(body));
}
