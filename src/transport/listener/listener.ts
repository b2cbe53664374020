import http from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactory } from "fastify";
import type { Budgets } from "../admission/budgets.js";
import type { Certificate } from "./certificate.js";
import { Connections, type Handler } from "./connections.js";
import { Http2Sessions } from "./http2-sessions.js";
import { type ConnectionLimits, IDLE_MS, STALLED_MS } from "./limits.js";
import { ProtocolSniffer } from "./protocol-sniffer.js";
import { rejectExpectation, requireHost } from "./refusals.js";
import { TlsHandshakes } from "./tls-handshakes.js";

const CLOSE_IDLE_MS = 20;
const CHECK_MS = 500;

interface AddressServers {
  readonly http1: http.Server;
  readonly http2: Http2Sessions;
  /** Holds each connection until its HTTP version is known. */
  readonly negotiation: { accept(socket: Socket): void; close(): void };
}

export interface ListenerOptions {
  /** Cleartext without one. */
  readonly certificate?: Certificate | undefined;
  /** Addresses and networks whose connections are not limited by address. */
  readonly proxies?: readonly string[] | undefined;
}

/** One port and handler for HTTP/1.1 and HTTP/2, told apart by the first bytes in cleartext and by ALPN over TLS. */
export class Listener {
  readonly #limits: ConnectionLimits;
  readonly #connections: Connections;
  readonly #certificate: Certificate | undefined;
  readonly #servers: AddressServers[] = [];
  #shutdownHandler: Handler | undefined;

  constructor(limits: ConnectionLimits, budgets: Budgets, { certificate, proxies = [] }: ListenerOptions = {}) {
    this.#limits = limits;
    this.#connections = new Connections(limits, budgets, proxies);
    this.#certificate = certificate;
  }

  /** Fastify calls this for each address it listens on, and owns the HTTP/1.1 server it returns. */
  readonly factory: FastifyServerFactory = (serve) => {
    const handler: Handler = (request, response) => (this.#shutdownHandler ?? serve)(request, response);
    const connections = this.#connections;
    const http1 = createHttp1Server(this.#limits, (request, response) =>
      connections.handleHttp1(request, response, handler),
    );
    const http2 = new Http2Sessions(handler, this.#limits, connections);
    const [acceptHttp1] = http1.listeners("connection");
    if (acceptHttp1 === undefined) throw new Error("http.Server of this Node.js has no connection listener");
    http1.removeAllListeners("connection");
    const dispatch = (socket: Socket, isHttp2: boolean) => {
      // Leave the socket paused: HTTP/2 takes the bytes read so far from its buffer.
      if (isHttp2) http2.accept(socket);
      else {
        Reflect.apply(acceptHttp1, http1, [socket]);
        socket.resume();
      }
    };
    const dispatchSecured = (socket: Socket, isHttp2: boolean, tcp: Socket) => {
      connections.secure(tcp, socket);
      dispatch(socket, isHttp2);
    };
    const negotiation =
      this.#certificate === undefined
        ? new ProtocolSniffer(dispatch)
        : new TlsHandshakes(this.#certificate, dispatchSecured);
    // Errors of accept, such as too many open files, must not end the process.
    http1.on("error", () => undefined);
    http1.on("connection", (socket: Socket) => {
      if (connections.accept(socket)) negotiation.accept(socket);
    });
    this.#servers.push({ http1, http2, negotiation });
    return http1;
  };

  /** Ends each connection when its requests are done. `shutdownHandler` answers requests that still arrive. */
  drain(shutdownHandler: Handler): void {
    this.#shutdownHandler = shutdownHandler;
    for (const { http1, http2, negotiation } of this.#servers) {
      negotiation.close();
      http2.drain();
      if (!http1.listening) continue;
      const timer = setInterval(() => http1.closeIdleConnections(), CLOSE_IDLE_MS);
      http1.once("close", () => clearInterval(timer));
    }
  }

  destroy(): void {
    for (const { http1, http2 } of this.#servers) {
      http1.closeAllConnections();
      http2.destroy();
    }
  }
}

function createHttp1Server({ requestMs, maxHeaderBytes }: ConnectionLimits, handler: Handler) {
  const handle = requireHost(handler);
  const server = http.createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: IDLE_MS,
      // requireHost does it, with a body and a request id.
      requireHostHeader: false,
    },
    handle,
  );
  server.timeout = STALLED_MS;
  server.on("checkContinue", (request: http.IncomingMessage, response: http.ServerResponse) => {
    // With pipelining, Node.js would write 100 Continue into the response before this one, which still has the socket.
    if (response.socket !== null) response.writeContinue();
    handle(request, response);
  });
  server.on("checkExpectation", requireHost(rejectExpectation));
  return server;
}
