import http from "node:http";
import http2 from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactory } from "fastify";

/** How long a new connection may keep silent, in milliseconds. */
const FIRST_BYTES_MS = 10_000;
/** How long a connection may be idle between requests: longer than proxies keep theirs, so that they close first. */
const IDLE_MS = 72_000;
/** How often, while closing, connections are looked for that have become idle. */
const IDLE_CHECK_MS = 20;
/** Requests that one HTTP/2 connection may have under way. */
const MAX_STREAMS = 256;

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** No HTTP/1.1 method begins like the preface of HTTP/2, `PRI * HTTP/2.0`. */
const PREFACE = Buffer.from("PRI");

/**
 * One cleartext port for HTTP/1.1 and for HTTP/2 with prior knowledge: the
 * first bytes of a connection tell which it is, and it is handed to the one or
 * the other server, both with the same handler.
 */
export class Listener {
  readonly #servers: http.Server[] = [];
  readonly #silent = new Set<Socket>();
  readonly #sessions = new Set<http2.ServerHttp2Session>();
  #refuse: Handler | undefined;

  /** For Fastify, which calls it for each address it listens on, and owns the HTTP/1.1 server that it gets. */
  readonly factory: FastifyServerFactory = (serve) => {
    const handler: Handler = (request, response) => (this.#refuse ?? serve)(request, response);
    const server = http.createServer(handler);
    const [serveHttp1] = server.listeners("connection");
    if (serveHttp1 === undefined) throw new Error("this Node.js has no listener for HTTP/1.1 connections");
    server.keepAliveTimeout = IDLE_MS;
    const second = this.#http2Server(handler);
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      this.#onFirstBytes(socket, (isHttp2) => {
        if (isHttp2) {
          // Stays paused: HTTP/2 takes what has been read already out of the socket's buffer itself.
          second.emit("connection", socket);
        } else {
          Reflect.apply(serveHttp1, server, [socket]);
          socket.resume();
        }
      });
    });
    this.#servers.push(server);
    return server;
  };

  /**
   * Lets nothing new begin on the connections there are: those that are silent
   * end now, the others when what is under way on them has been answered.
   * Requests that come all the same are answered by `refuse`.
   */
  drain(refuse: Handler): void {
    this.#refuse = refuse;
    for (const server of this.#servers.filter(({ listening }) => listening)) {
      const timer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      server.once("close", () => clearInterval(timer));
    }
    for (const socket of this.#silent) socket.destroy();
    for (const session of this.#sessions) session.close();
  }

  /** Ends every connection at once. */
  destroy(): void {
    for (const server of this.#servers) server.closeAllConnections();
    for (const session of this.#sessions) session.destroy();
  }

  #http2Server(handler: Handler): http2.Http2Server {
    const server = http2.createServer(
      { settings: { maxConcurrentStreams: MAX_STREAMS } },
      // The compatibility classes of HTTP/2 have what Fastify uses of a request and a response.
      (request, response) =>
        handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse),
    );
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
      session.setTimeout(IDLE_MS, () => session.close());
    });
    // A peer that breaks the protocol loses its session; there is nobody else to tell.
    server.on("sessionError", (_error, session) => session.destroy());
    return server;
  }

  #onFirstBytes(socket: Socket, decide: (isHttp2: boolean) => void): void {
    let seen: Buffer = Buffer.alloc(0);
    const stop = () => {
      this.#silent.delete(socket);
      clearTimeout(timer);
      socket.off("data", onData).off("close", stop);
    };
    const onData = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, PREFACE.length);
      const fits = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
      if (fits && length < PREFACE.length) return;
      stop();
      socket.pause();
      socket.unshift(seen);
      socket.off("error", ignore);
      decide(fits);
    };
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS);
    this.#silent.add(socket);
    socket.on("error", ignore).on("data", onData).once("close", stop);
  }
}

/** A connection that ends before it said anything needs no words. */
function ignore(): void {}
