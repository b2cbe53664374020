/** One port for HTTP/1.1 and HTTP/2: told apart by the first bytes in cleartext, and by ALPN over TLS. */
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { FastifyServerFactory } from "fastify";
import { fixRequestId, makeRequestId, REQUEST_ID } from "../telemetry/request-ids.js";
import type { Certificate } from "./certificate.js";
import { type ConnectionLimits, IDLE_MS, isEndless, isServing, NEGOTIATION_MS, STALLED_MS } from "./limits.js";
import { deferSessionClose, startTimeouts } from "./upstream.js";

export type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** The HTTP/2 preface is `PRI * HTTP/2.0`; no HTTP/1.1 method starts with these bytes. */
const PREFACE = Buffer.from("PRI");
/** How often Node.js looks for late requests. */
const CHECK_MS = 500;
const CLOSE_IDLE_MS = 50;
/** Of one HTTP/2 request, with its four pseudo-headers. Node.js resets a stream with more. */
const MAX_HEADER_FIELDS = 100;
/**
 * Memory of a session for each stream that it may have: header, and the waiting part of the response. Beyond the sum
 * Node.js resets further streams. At least its default.
 */
const STREAM_BYTES = 40_000;
const MIN_SESSION_MEGABYTES = 10;
/** How long an HTTP/1.1 client may read the answer to what is no request. */
const LINGER_MS = 2_000;
/** Every client may use these: RFC 9113, section 6.8. */
const LAST_STREAM_ID = 2 ** 31 - 1;
const GOAWAY_PAUSE_MS = 100;

type Accept = (socket: net.Socket, isHttp2: boolean) => void;

interface AddressServers {
  readonly http1: http.Server;
  readonly http2: Http2Sessions;
  /** All of its connections, in whatever state. */
  readonly sockets: Set<net.Socket>;
}

/** The listening servers of Fastify. */
export class Sockets {
  readonly #limits: ConnectionLimits;
  readonly #certificate: Certificate | undefined;
  readonly #servers: AddressServers[] = [];

  /** Cleartext without a certificate. */
  constructor(limits: ConnectionLimits, certificate?: Certificate) {
    this.#limits = limits;
    this.#certificate = certificate;
  }

  /** Fastify calls this for each address it listens on. The servers inside never listen: they are given their sockets. */
  readonly factory: FastifyServerFactory = (handler) => {
    const { maxConnections, negotiationMs = NEGOTIATION_MS } = this.#limits;
    const http1 = createHttp1Server(this.#limits, handler);
    const sessions = new Http2Sessions(this.#limits, handler);
    const sockets = new Set<net.Socket>();
    const pending = new Set<net.Socket>();
    const accept: Accept = (socket, isHttp2) => {
      pending.delete(socket);
      if (isHttp2) sessions.accept(socket);
      else http1.emit("connection", socket);
    };
    const server =
      this.#certificate === undefined
        ? net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
            pending.add(socket);
            socket.once("close", () => pending.delete(socket));
            readVersion(socket, negotiationMs, accept);
          })
        : createTlsServer(this.#certificate, negotiationMs, accept);
    server.maxConnections = maxConnections;
    server.on("connection", (socket: net.Socket) => {
      sockets.add(socket);
      // A client may reset the connection before anybody else listens.
      socket.on("error", ignore).once("close", () => sockets.delete(socket));
    });
    // Errors of accept, such as too many open files, must not end the process.
    server.on("error", ignore);
    http1.on("clientError", (error, socket) => server.emit("clientError", error, socket));
    let closing: NodeJS.Timeout | undefined;
    server.once("close", () => {
      clearInterval(closing);
      http1.close();
    });
    this.#servers.push({ http1, http2: sessions, sockets });
    const closeIdleConnections = () => {
      for (const socket of pending) socket.destroy();
      http1.closeIdleConnections();
      // Those whose last request is under way are idle later.
      closing ??= setInterval(() => http1.closeIdleConnections(), CLOSE_IDLE_MS);
    };
    const closeAllConnections = () => sockets.forEach((socket) => void socket.destroy());
    // Fastify uses these members of an HTTP server alone.
    return Object.assign(server, { closeIdleConnections, closeAllConnections }) as unknown as http.Server;
  };

  /** Tells the clients of HTTP/2 to use other connections. Requests that are on their way are still served. */
  async goAway(): Promise<void> {
    for (const { http2: sessions } of this.#servers) sessions.goAway();
    await new Promise((resolve) => setTimeout(resolve, GOAWAY_PAUSE_MS));
    for (const { http2: sessions } of this.#servers) sessions.close();
  }

  destroy(): void {
    for (const { http2: sessions, sockets } of this.#servers) {
      sessions.destroy();
      for (const socket of sockets) socket.destroy();
    }
  }
}

/** Calls `accept` with the connection paused, and with everything that it has sent still unread. */
function readVersion(socket: net.Socket, withinMs: number, accept: Accept): void {
  let received: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const length = Math.min(received.length, PREFACE.length);
    const isHttp2 = received.subarray(0, length).equals(PREFACE.subarray(0, length));
    if (isHttp2 && length < PREFACE.length) return;
    clearTimeout(timer);
    socket.off("data", onData).off("end", onEnd);
    socket.pause();
    socket.unshift(received);
    accept(socket, isHttp2);
    // HTTP/2 takes the bytes from the buffer itself.
    if (!isHttp2) socket.resume();
  };
  const onEnd = () => socket.destroy();
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.on("data", onData).on("end", onEnd);
  socket.once("close", () => clearTimeout(timer));
}

/**
 * ALPN selects HTTP/2 if the client offers it. Not `http2.createSecureServer`, whose HTTP/1.1 has no limit on headers of
 * its own.
 */
function createTlsServer(certificate: Certificate, handshakeTimeout: number, accept: Accept): tls.Server {
  const server = tls.createServer(
    {
      ...certificate.pair,
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout,
      allowHalfOpen: true,
      noDelay: true,
    },
    (socket) => {
      socket.on("error", ignore);
      accept(socket, socket.alpnProtocol === "h2");
    },
  );
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  // Established connections keep the certificate they started with.
  certificate.onChange((keyPair) => server.setSecureContext(keyPair));
  return server;
}

function createHttp1Server(
  { requestMs, maxHeaderBytes, idleMs = IDLE_MS, stalledMs = STALLED_MS }: ConnectionLimits,
  handler: Handler,
): http.Server {
  const server = http.createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: idleMs,
    },
    handler,
  );
  server.setTimeout(stalledMs, (socket) => {
    // Where it waits for the service, it is not stalled.
    if (socket.writableLength === 0 && isServing(socket)) socket.setTimeout(stalledMs);
    else socket.destroy();
  });
  startTimeouts(server);
  return server;
}

/** Answers HTTP/1.1 input that Node.js cannot parse or that arrives too late, and closes the connection. */
export function answerClientError(requestMs: number) {
  const answered = new WeakSet<Duplex>();
  return (error: Error & { readonly code?: string }, socket: Duplex): void => {
    // Node.js reports a connection again for each further read.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (!socket.writable) {
      socket.destroy(error);
      return;
    }
    const [status, message] = describe(error.code ?? "", requestMs);
    const body = JSON.stringify({ error: message });
    socket.end(
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n${REQUEST_ID}: ${makeRequestId()}\r\n\r\n${body}`,
    );
    // Closing at once would reset the connection of a client that still sends, and it would not read the response.
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  };
}

function describe(code: string, requestMs: number): readonly [status: string, message: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return ["431 Request Header Fields Too Large", "request header is too large"];
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return ["413 Payload Too Large", "chunk extensions are too large"];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["408 Request Timeout", timeoutMessage(requestMs)];
    default:
      return ["400 Bad Request", "malformed HTTP request"];
  }
}

const timeoutMessage = (requestMs: number): string => `request not received within ${requestMs / 1000} seconds`;

/** HTTP/2. `node:http2` has the mechanisms of the time limits, but applies none by itself. */
class Http2Sessions {
  readonly #server: http2.Http2Server;
  readonly #limits: ConnectionLimits;
  readonly #sessions = new Set<http2.ServerHttp2Session>();

  constructor(limits: ConnectionLimits, handler: Handler) {
    this.#limits = limits;
    const { maxStreams, maxHeaderBytes } = limits;
    this.#server = http2.createServer(
      {
        settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
        maxHeaderListPairs: MAX_HEADER_FIELDS,
        maxSessionMemory: Math.max(MIN_SESSION_MEGABYTES, Math.ceil((maxStreams * STREAM_BYTES) / 1_000_000)),
      },
      // The compatibility classes of node:http2 have every member that Fastify uses.
      handler as unknown as (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void,
    );
    this.#server.on("session", (session) => this.#limit(session));
    this.#server.on("sessionError", (_error, session) => session.destroy());
  }

  accept(socket: net.Socket): void {
    // An HTTP/1.1 client may half-close and wait for the response. An HTTP/2 client that sends FIN is gone.
    socket.allowHalfOpen = false;
    this.#server.emit("connection", socket);
  }

  goAway(): void {
    for (const session of this.#sessions) {
      if (!session.destroyed && !session.closed) session.goaway(http2.constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID);
    }
  }

  /** Each session ends when its open streams are done. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #limit(session: http2.ServerHttp2Session): void {
    const { idleMs = IDLE_MS } = this.#limits;
    deferSessionClose(session);
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    let streams = 0;
    session.on("stream", (stream, headers) => {
      streams++;
      stream.once("close", () => streams--);
      limitStream(stream, headers, this.#limits);
    });
    session.setTimeout(idleMs);
    session.on("timeout", () => {
      if (streams === 0) session.destroy();
      else session.setTimeout(idleMs);
    });
  }
}

function limitStream(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  { requestMs, stalledMs = STALLED_MS }: ConnectionLimits,
): void {
  // Node.js reports a stream that neither sends nor receives. Where nothing waits, the client waits for the service.
  stream.setTimeout(stalledMs, () => {
    if (stream.writableLength > 0) reset(stream);
  });
  if (isComplete(stream)) return;
  const timer = setTimeout(() => {
    if (!stream.closed && !isComplete(stream) && !isEndless(stream))
      rejectTimeout(stream, headers, requestMs, stalledMs);
  }, requestMs);
  stream.once("close", () => clearTimeout(timer));
}

/** Whether the whole request has arrived, read or not. */
export const isComplete = (stream: http2.ServerHttp2Stream): boolean =>
  stream.readableEnded || stream.endAfterHeaders || stream.state.remoteClose === 1;

/** Ends a request that has not arrived in time, with 408 if no response has begun. */
function rejectTimeout(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  requestMs: number,
  stalledMs: number,
): void {
  if (!stream.headersSent && !stream.destroyed) {
    stream.respond({ ":status": 408, "content-type": "application/json", [REQUEST_ID]: fixRequestId(headers) });
    stream.end(JSON.stringify({ error: timeoutMessage(requestMs) }));
  }
  // RST_STREAM follows the response and stops the rest of the request.
  stream.close(http2.constants.NGHTTP2_NO_ERROR);
  // Closing has ended the timeout; a client that does not read would keep the stream.
  stream.setTimeout(stalledMs, () => stream.destroy());
}

/** Also where the connection takes nothing: RST_STREAM alone would wait for it. */
function reset(stream: http2.ServerHttp2Stream): void {
  stream.close(http2.constants.NGHTTP2_CANCEL);
  stream.destroy();
}

/** A connection that fails is not worth a log line. */
function ignore(): void {}
