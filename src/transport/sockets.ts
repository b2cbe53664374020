/** One port for HTTP/1.1 and HTTP/2: told apart by the first bytes in cleartext, and by ALPN over TLS. */
import http from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { FastifyServerFactory } from "fastify";
import { makeRequestId, REQUEST_ID } from "../telemetry/request-record.js";
import { codeOf, FileError, readTextFile, ReloadedFiles } from "../util/reloaded-files.js";
import { corsHeaders, type Origins } from "./cors.js";
import { EventLoopGuard, type OnRefused } from "./event-loop-guard.js";
import { Http2Sessions } from "./http2-sessions.js";
import {
  type Budget,
  type ConnectionLimits,
  IDLE_MS,
  isServing,
  NEGOTIATION_MS,
  STALLED_MS,
  timeoutMessage,
} from "./limits.js";
import { continueInOrder, startTimeouts } from "./node-workarounds.js";

/** The HTTP/2 preface is `PRI * HTTP/2.0`; no HTTP/1.1 method starts with these bytes. */
const PREFACE = Buffer.from("PRI");
/** How often Node.js looks for late requests. */
const CHECK_MS = 500;
const CLOSE_IDLE_MS = 50;
/** How long an HTTP/1.1 client may read the answer to what is no request. */
const LINGER_MS = 2_000;
const GOAWAY_PAUSE_MS = 100;

type Accept = (socket: net.Socket, isHttp2: boolean) => void;

interface AddressServers {
  readonly http2: Http2Sessions;
  /** All of its connections, in whatever state. */
  readonly sockets: Set<net.Socket>;
  readonly closeIdleConnections: () => void;
}

/** The listening servers of Fastify. */
export class Sockets {
  readonly #servers: AddressServers[] = [];

  /** What is refused here counts as refused by `requests`. Cleartext without a certificate. */
  constructor(
    private readonly limits: ConnectionLimits,
    private readonly requests: Budget,
    private readonly certificate?: Certificate,
    private readonly onRefused?: OnRefused,
  ) {}

  /** Fastify calls this for each address it listens on. The servers inside never listen: they are given their sockets. */
  readonly factory: FastifyServerFactory = (handler) => {
    const { maxConnections, turnMs = Infinity, negotiationMs = NEGOTIATION_MS, corsOrigins } = this.limits;
    const guard = new EventLoopGuard(turnMs, this.requests, corsOrigins, this.onRefused);
    const http1 = createHttp1Server(this.limits, guard.limitHttp1(handler));
    const sessions = new Http2Sessions(this.limits, guard.limitHttp2(handler));
    const sockets = new Set<net.Socket>();
    const pending = new Set<net.Socket>();
    const accept: Accept = (socket, isHttp2) => {
      pending.delete(socket);
      if (isHttp2) sessions.accept(socket);
      else http1.emit("connection", socket);
    };
    const server =
      this.certificate === undefined
        ? net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
            pending.add(socket);
            socket.once("close", () => pending.delete(socket));
            readVersion(socket, negotiationMs, accept);
          })
        : createTlsServer(this.certificate, negotiationMs, accept);
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
    const closeIdleConnections = () => {
      for (const socket of pending) socket.destroy();
      http1.closeIdleConnections();
      // Those whose last request is under way are idle later. A server that could not listen never closes.
      if (server.listening) closing ??= setInterval(() => http1.closeIdleConnections(), CLOSE_IDLE_MS);
    };
    this.#servers.push({ http2: sessions, sockets, closeIdleConnections });
    const closeAllConnections = () => sockets.forEach((socket) => void socket.destroy());
    // Fastify uses these members of an HTTP server alone.
    return Object.assign(server, { closeIdleConnections, closeAllConnections }) as unknown as http.Server;
  };

  /** Tells the clients of HTTP/2 to use other connections, and closes idle ones. Requests on their way are still served. */
  async goAway(): Promise<void> {
    for (const { http2: sessions, closeIdleConnections } of this.#servers) {
      sessions.goAway(GOAWAY_PAUSE_MS);
      closeIdleConnections();
    }
    await new Promise((resolve) => setTimeout(resolve, GOAWAY_PAUSE_MS));
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
      ...certificate.value,
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout,
      noDelay: true,
    },
    (socket) => {
      socket.on("error", ignore);
      // Not before: Node.js would keep a client that leaves within the handshake until its timeout.
      socket.allowHalfOpen = true;
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
  handler: http.RequestListener,
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
  continueInOrder(server);
  return server;
}

/** Answers HTTP/1.1 input that Node.js cannot parse or that arrives too late, and closes the connection. */
export function answerClientError(requestMs: number, corsOrigins: Origins) {
  // There is no request yet, and so no origin.
  const cors = Object.entries(corsHeaders(corsOrigins)).map(([name, value]) => `${name}: ${value}\r\n`);
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
        `Content-Length: ${body.length}\r\n${cors.join("")}${REQUEST_ID}: ${makeRequestId()}\r\n\r\n${body}`,
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

/** A connection that fails is not worth a log line. */
function ignore(): void {}

/** A certificate chain, leaf first, and the private key of the leaf; both PEM. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Reloaded when its files change. The previous pair is served until the two new files match. */
export type Certificate = ReloadedFiles<KeyPair>;

/** Throws FileError if a file cannot be read or the two do not match. */
export const readCertificate = (certFile: string, keyFile: string): Promise<Certificate> =>
  ReloadedFiles.load("certificate", [certFile, keyFile], async () => {
    const keyPair = { cert: await readTextFile(certFile), key: await readTextFile(keyFile) };
    try {
      tls.createSecureContext(keyPair);
    } catch (error) {
      const problem = `are not a certificate and its private key (${codeOf(error)})`;
      throw new FileError(`${certFile} and ${keyFile} ${problem}`);
    }
    return keyPair;
  });
