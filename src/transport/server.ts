/** Fastify with its router and its hooks, which every request passes whatever its protocol. */
import { constants } from "node:http2";
import { Code } from "@connectrpc/connect";
import underPressure from "@fastify/under-pressure";
import {
  fastify,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { Logger } from "pino";
import type { ServiceBinding } from "../service/service-binding.js";
import { REQUEST_ID, type RequestObserver, RequestRecord } from "../telemetry/request-record.js";
import { addCors, answerPreflight, type Origins } from "./cors.js";
import { configureTexts } from "./decoding/decode.js";
import type { ArgumentLimits } from "./decoding/validation.js";
import { outcomeOf, rejection } from "./errors.js";
import type { OnRefused } from "./event-loop-guard.js";
import {
  budgetError,
  type Budgets,
  type ConnectionLimits,
  createBudgets,
  resetOverHttp2,
  responseBudgetError,
  Usage,
} from "./limits.js";
import { isHealth, rpcs } from "./rpcs.js";
import { reject } from "./reject.js";
import { docs, type Documentation } from "./rest/docs.js";
import { rest } from "./rest/rest.js";
import { noRoute, ROUTER_OPTIONS, RouteTable, type ServedRoute } from "./rest/routes.js";
import { rpc } from "./rpc/rpc.js";
import type { StandardServices } from "./rpc/standard-services.js";
import { answerClientError, type Certificate, Sockets } from "./sockets.js";
import { serverSentEvents } from "./watch/server-sent-events.js";
import type { WatchCalls } from "./watch/watch-calls.js";

/**
 * Connections that the kernel queues until they are accepted; Linux lowers it to `net.core.somaxconn`. A caller beyond
 * it waits for a retransmission, a second or more. Node.js queues 511.
 */
const BACKLOG = 4_096;

/** In place of a URL that the router cannot read; no route has it. */
const UNROUTABLE = "/%25";

/** Whether the router can read a URL: an absolute one has a host and no fragment, and the escapes of its path are UTF-8. */
function isRoutable(url: string): boolean {
  if (!url.startsWith("/") && /^https?:\/\/(?:$|[/?]|.*#)/is.test(url)) return false;
  if (!url.includes("%")) return true;
  const [path = ""] = url.split(/[?#]/, 1);
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

/** A server that answers REST, Connect, gRPC and gRPC-Web on one port. */
export interface Server {
  /** Starts to listen, and returns the base URL. */
  listen(host: string, port: number): Promise<string>;
  /** From now on the responses of HTTP/1.1 close their connections, so that their clients and proxies go elsewhere. */
  drain(): void;
  /** Accepts no more connections, completes the requests in progress, and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Adds hooks that may reject requests, before the server has routes. Not encapsulated: they are for all routes. */
export type RootPlugin = (server: FastifyInstance, log: Logger) => void | Promise<void>;

export interface AdmissionOptions {
  readonly corsOrigins: Origins;
  /** Longest path with its query. */
  readonly maxPathBytes: number;
  /** Delay of the event loop, on average over a second, from which on requests are rejected; 0 for no limit. */
  readonly maxDelayMs: number;
}

export interface ServerOptions {
  /** Not Fastify's: it would make a child logger for each request. */
  readonly log: Logger;
  readonly observers?: readonly RequestObserver[];
  /** Observers do not learn of what is refused before any hook runs. */
  readonly onRefused?: OnRefused | undefined;
  /** Maximum request body in bytes. */
  readonly maxBodyBytes: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compresses: boolean;
  readonly standard?: StandardServices;
  /** The stream of changes; absent in a process that answers nothing else. */
  readonly watch?: WatchCalls | undefined;
  readonly connections: ConnectionLimits;
  /** The limits of the process; defaults from its memory. */
  readonly budgets?: Budgets;
  readonly admission: AdmissionOptions;
  /** Runs before admission, also for paths that are not served; only malformed requests do not get there. */
  readonly firstPlugin?: RootPlugin;
  /** Run after admission, in this order. */
  readonly plugins?: readonly RootPlugin[];
  readonly arguments: ArgumentLimits;
  /** Serves TLS; the port is cleartext without it. */
  readonly certificate?: Certificate | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The registrar whose token-standard operations REST serves at `/registry/…` too. Throws ConnectError if there is none now. */
  readonly rootRegistrar?: (() => string) | undefined;
  /** Without it `/` and `/docs` are not served. */
  readonly documentation?: Documentation;
  /** Adds further routes, as a plugin of Fastify. */
  readonly routes?: FastifyPluginAsync;
}

export async function createServer(bindings: readonly ServiceBinding[], options: ServerOptions): Promise<Server> {
  configureTexts();
  const { log, watch, connections, maxBodyBytes, compresses, certificate, budgets = createBudgets() } = options;
  const { corsOrigins } = options.admission;
  const sockets = new Sockets({ ...connections, corsOrigins }, budgets.requests, certificate, options.onRefused);
  const server: FastifyInstance = fastify({
    serverFactory: sockets.factory,
    bodyLimit: maxBodyBytes,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    routerOptions: ROUTER_OPTIONS,
    // Fastify would answer a URL that it cannot route without any hook.
    rewriteUrl: ({ url = "/" }) => (isRoutable(url) ? url : UNROUTABLE),
    clientErrorHandler: answerClientError(connections.requestMs, corsOrigins),
    // Requests on open connections are served to the end, and close them.
    return503OnClosing: false,
  });
  let isDraining = false;
  recordRequests(server, options.observers ?? [], budgets, () => isDraining);
  const { plugins = [], documentation, routes, rootRegistrar } = options;
  await options.firstPlugin?.(server, log);
  const table = new RouteTable<ServedRoute>();
  const answerNoRoute = noRoute(table);
  const rejectUnknown = (request: FastifyRequest, reply: FastifyReply) => void answerNoRoute(request, reply);
  await addAdmission(server, options.admission, rejectUnknown);
  // In sequence: hooks run in the order in which they are added.
  // oxlint-disable-next-line no-await-in-loop
  for (const plugin of plugins) await plugin(server, log);
  const report = (defect: unknown, operation?: string) => log.error({ err: defect, rpc: operation }, "request failed");
  const { standard } = options;
  const all = [...bindings, ...(standard?.bindings ?? [])];
  const served = rpcs(all, report, options.arguments, () => responseBudgetError(budgets));
  server.setNotFoundHandler(answerNoRoute);
  server.addHook("onRoute", ({ method, url, config }) =>
    table.add(method, url, { url, isRpc: config?.isRpc === true }),
  );
  await server.register(rpc({ operations: served, standard, watch, maxBodyBytes, compresses }));
  const addStream = watch && ((scope: FastifyInstance) => serverSentEvents(scope, watch));
  await server.register(rest(served, { maxBodyBytes, compresses, rootRegistrar, report, addStream }));
  if (documentation !== undefined) await server.register(docs(documentation, served, compresses));
  if (routes !== undefined) await server.register(routes);
  let url: string | undefined;
  server.addHook("preClose", async () => {
    await sockets.goAway();
    log.info({ url }, "clients are told to go away, and idle connections are closed");
  });
  // After the hooks of the protocols, which end their streams.
  await server.register(async (last) => {
    last.addHook("preClose", async () => log.info({ url }, "streams have ended"));
  });
  return {
    async listen(host, port) {
      const listening = await server.listen({ host, port, backlog: BACKLOG });
      certificate?.watch(log);
      // Fastify does not know about the TLS in front of it.
      url = certificate === undefined ? listening : listening.replace(/^http:/, "https:");
      return url;
    },
    drain() {
      isDraining = true;
    },
    async close(graceMs) {
      const timer = setTimeout(() => sockets.destroy(), graceMs);
      try {
        await Promise.all([certificate?.close(), server.close()]);
        log.info({ url }, "the listener and all connections are closed");
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Created once, because errors are expensive. */
const OVERLOADED = rejection("OVERLOADED", "server overloaded; retry later");

/**
 * Adds CORS, and refuses what is not to be served, before all other plugins and routes. `notFound` answers before the body
 * is read; Fastify would read it first.
 */
async function addAdmission(
  server: FastifyInstance,
  { corsOrigins, maxPathBytes, maxDelayMs }: AdmissionOptions,
  notFound: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  // It only measures: health requests are exempt, and others are rejected in the form of their protocol.
  const pressure = { maxEventLoopDelay: maxDelayMs, pressureHandler: () => undefined };
  if (maxDelayMs > 0) await server.register(underPressure, pressure);
  await addCors(server, corsOrigins);
  server.addHook("onRequest", (request, reply, done) => {
    // Before all that rejects: a preflight needs no token.
    if (request.method === "OPTIONS") {
      if (!answerPreflight(corsOrigins, request, reply)) notFound(request, reply);
      return undefined;
    }
    // A URL is ASCII, so its length is its size in bytes.
    if (request.url.length > maxPathBytes) {
      const message = `path of ${request.url.length} bytes exceeds the limit of ${maxPathBytes} bytes`;
      return reject(request, reply, rejection("PATH_TOO_LONG", message));
    }
    if (request.is404) return notFound(request, reply);
    if (isHealth(request.record.operation)) return done();
    const overBudget = budgetError(request.usage.budgets);
    if (overBudget !== undefined && resetOverHttp2(request, constants.NGHTTP2_REFUSED_STREAM)) {
      reply.hijack();
      return request.record.complete(Code.Unavailable);
    }
    const error = overBudget ?? (maxDelayMs > 0 && server.isUnderPressure() ? OVERLOADED : undefined);
    if (error === undefined) done();
    else reject(request, reply, error);
  });
}

/**
 * Records and counts each request. Call it before adding other hooks. Code that sends a response past Fastify must complete the
 * record itself. Responses of HTTP/1.1 close their connections while the service drains.
 */
function recordRequests(
  server: FastifyInstance,
  observers: readonly RequestObserver[],
  budgets: Budgets,
  isDraining: () => boolean,
): void {
  // Declared now so that every request has the same hidden class. A getter would not reserve the slot.
  server.decorateRequest("record").decorateRequest("usage");
  server.addHook("onRequest", (request, reply, done) => {
    const record = new RequestRecord(request, observers);
    record.operation = request.routeOptions.config.operation ?? "";
    request.record = record;
    // Where the client has left before its response.
    request.usage = new Usage(budgets, request.raw, reply.raw, () => record.complete(Code.Canceled));
    if (isDraining() && request.raw.httpVersionMajor === 1) reply.header("connection", "close");
    done();
  });
  server.addHook("onSend", (request, reply, payload, done) => {
    const { record, usage } = request;
    if (typeof payload === "string" || Buffer.isBuffer(payload)) usage.holdResponse(payload.length);
    reply.header(REQUEST_ID, record.requestId);
    // A stream completes it when it ends.
    if (!usage.isStream) record.complete(outcomeOf(reply.statusCode));
    done();
  });
}
