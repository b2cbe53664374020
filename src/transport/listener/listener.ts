import http from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactory } from "fastify";
import { ProtocolSniffer } from "./protocol-sniffer.js";
import { type ConnectionLimits, IDLE_MS, STALLED_MS } from "./limits.js";
import type { Certificate } from "./certificate.js";
import { TlsHandshakes } from "./tls-handshakes.js";
import { Http2Sessions } from "./http2-sessions.js";

/** How often, while closing, connections are looked for that have become idle. */
const IDLE_CHECK_MS = 20;
/** How often requests are looked for that take too long to arrive. */
const SLOW_CHECK_MS = 500;

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** What serves one address. */
interface Served {
  readonly http1: http.Server;
  readonly sessions: Http2Sessions;
  /** Has the connections until it is known how they are to be spoken with. */
  readonly greeting: { take(socket: Socket): void; close(): void };
}

/**
 * One port for HTTP/1.1 and HTTP/2, both with the same handler. In cleartext the first bytes of a connection tell which
 * it is, over TLS what both ends have agreed on; it is handed to the one or the other server.
 */
export class Listener {
  readonly #limits: ConnectionLimits;
  readonly #certificate: Certificate | undefined;
  readonly #servers: Served[] = [];
  #refuse: Handler | undefined;

  /** Without a certificate it is cleartext. */
  constructor(limits: ConnectionLimits, certificate?: Certificate) {
    this.#limits = limits;
    this.#certificate = certificate;
  }

  /** For Fastify, which calls it for each address it listens on, and owns the HTTP/1.1 server that it gets. */
  readonly factory: FastifyServerFactory = (serve) => {
    const handler: Handler = (request, response) => (this.#refuse ?? serve)(request, response);
    const { requestMs, maxHeaderBytes, maxConnections } = this.#limits;
    const http1 = http.createServer(
      {
        maxHeaderSize: maxHeaderBytes,
        headersTimeout: requestMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: SLOW_CHECK_MS,
        keepAliveTimeout: IDLE_MS,
      },
      handler,
    );
    http1.maxConnections = maxConnections;
    http1.timeout = STALLED_MS;
    http1.on("checkContinue", (request: http.IncomingMessage, response: http.ServerResponse) => {
      // Behind another answer on its connection, Node.js would put it between the head of that one and its body.
      if (response.socket !== null) response.writeContinue();
      handler(request, response);
    });
    const [serveHttp1] = http1.listeners("connection");
    if (serveHttp1 === undefined) throw new Error("this Node.js has no listener for HTTP/1.1 connections");
    const http2Sessions = new Http2Sessions(handler, this.#limits);
    http1.removeAllListeners("connection");
    const hand = (socket: Socket, isHttp2: boolean) => {
      // Stays paused: HTTP/2 takes what has been read already out of the socket's buffer itself.
      if (isHttp2) http2Sessions.take(socket);
      else {
        Reflect.apply(serveHttp1, http1, [socket]);
        socket.resume();
      }
    };
    const greeting =
      this.#certificate === undefined ? new ProtocolSniffer(hand) : new TlsHandshakes(this.#certificate, hand);
    http1.on("connection", (socket: Socket) => greeting.take(socket));
    this.#servers.push({ http1, sessions: http2Sessions, greeting });
    return http1;
  };

  /**
   * Lets nothing new begin on the connections there are: those that are silent end now, the others when what is under
   * way on them has been answered. Requests that come all the same are answered by `refuse`.
   */
  drain(refuse: Handler): void {
    this.#refuse = refuse;
    for (const { http1, sessions, greeting } of this.#servers) {
      greeting.close();
      sessions.drain();
      if (!http1.listening) continue;
      const timer = setInterval(() => http1.closeIdleConnections(), IDLE_CHECK_MS);
      http1.once("close", () => clearInterval(timer));
    }
  }

  /** Ends every connection at once. */
  destroy(): void {
    for (const { http1, sessions } of this.#servers) {
      http1.closeAllConnections();
      sessions.destroy();
    }
  }
}
