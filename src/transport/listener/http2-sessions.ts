import type http from "node:http";
import http2 from "node:http2";
import type { Socket } from "node:net";
import { type ConnectionLimits, IDLE_MS, STALLED_MS } from "./limits.js";
import { deferSessionClose } from "./defer-session-close.js";
import { drainBody } from "../drain-body.js";
import { Keepalive } from "./keepalive.js";
import {
  resetStream,
  rejectHeaders,
  rejectTimeout,
  isComplete,
  headBytes,
  isAnswering,
  isLongLived,
} from "./http2-streams.js";

/** How often sessions are looked at. */
const LOOK_MS = 500;
/** The time for which cancelled requests are counted. */
const RESETS_MS = 10_000;

/** How long a session may do nothing, and stand still; shorter in tests alone. */
interface Timeouts {
  readonly idleMs: number;
  readonly stalledMs: number;
}

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** What is known of a session: its streams with the time at which each began, which for those that last is never, and when the last of them ended. */
interface SessionState {
  readonly streams: Map<http2.ServerHttp2Stream, number>;
  idleSince: number;
  /** When an answer was last seen on its way. */
  answeredAt: number;
  resets: number;
  resetsSince: number;
  readonly signs: Keepalive;
}

/**
 * HTTP/2 connections. What Node.js does for HTTP/1.1 is done here: requests that do not arrive, callers who do not
 * read, and connections on which bytes come but no requests do all end.
 */
export class Http2Sessions {
  readonly #server: http2.Http2Server;
  readonly #limits: ConnectionLimits;
  readonly #timeouts: Timeouts;
  readonly #sessions = new Map<http2.ServerHttp2Session, SessionState>();
  /** Their connections, which outlast them where a caller does not read what was sent last. */
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    handler: Handler,
    limits: ConnectionLimits,
    timeouts: Timeouts = { idleMs: IDLE_MS, stalledMs: STALLED_MS },
  ) {
    this.#limits = limits;
    this.#timeouts = timeouts;
    const settings = { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes };
    const serve = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => {
      // Node.js holds a head against the limit once the caller has acknowledged it, which a caller may leave.
      if (headBytes(request.rawHeaders) > limits.maxHeaderBytes) return rejectHeaders(response, limits.maxHeaderBytes);
      // The compatibility classes of HTTP/2 have what Fastify uses of a request and a response.
      const hand = () =>
        handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse);
      if (request.method !== "HEAD" || request.stream.endAfterHeaders) return hand();
      // Node.js forgets such a stream as soon as it is answered, and whoever still sends waits for ever.
      void drainBody(request).then(() => request.stream.destroyed || hand());
    };
    this.#server = http2.createServer({ settings }, serve);
    this.#server.on("checkContinue", (request, response) => {
      // On a stream that the caller has reset meanwhile Node.js would throw, with nobody to catch it.
      if (!request.stream.destroyed && !request.stream.closed) response.writeContinue();
      serve(request, response);
    });
    this.#server.on("session", (session) => this.#watch(session));
    // A peer that breaks the protocol loses its session; there is nobody else to tell.
    this.#server.on("sessionError", (_error, session) => session.destroy());
  }

  /** Takes a connection over. */
  take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // Who has ended his side over HTTP/1.1 may wait for an answer. Over HTTP/2 he has gone.
    socket.allowHalfOpen = false;
    this.#server.emit("connection", socket);
  }

  /** Lets nothing new begin; each ends when what is under way on it has been answered. */
  drain(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  /** Ends every connection at once. */
  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #watch(session: http2.ServerHttp2Session): void {
    deferSessionClose(session);
    const now = performance.now();
    const state: SessionState = {
      streams: new Map(),
      idleSince: now,
      answeredAt: now,
      resets: 0,
      resetsSince: now,
      signs: new Keepalive(session, now),
    };
    this.#sessions.set(session, state);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    session.once("close", () => {
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    session.on("stream", (stream, headers) => {
      state.streams.set(stream, isLongLived(headers) ? Number.POSITIVE_INFINITY : performance.now());
      stream.once("aborted", () => this.#countReset(session, state));
      stream.once("close", () => {
        state.streams.delete(stream);
        state.idleSince = performance.now();
      });
    });
  }

  /** Requests that are cancelled as soon as they are made cost the caller nothing, and the service much. */
  #countReset(session: http2.ServerHttp2Session, state: SessionState): void {
    const now = performance.now();
    if (now - state.resetsSince > RESETS_MS) {
      state.resetsSince = now;
      state.resets = 0;
    }
    state.resets++;
    if (state.resets <= this.#limits.maxResets) return;
    // Without an error it would not take the code.
    session.destroy(new Error("too many resets"), http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #look(): void {
    const now = performance.now();
    const { requestMs } = this.#limits;
    const { idleMs, stalledMs } = this.#timeouts;
    for (const [session, watched] of this.#sessions) {
      const { streams, signs } = watched;
      if (isAnswering(streams.keys())) watched.answeredAt = now;
      const quietSince = Math.max(watched.answeredAt, watched.idleSince);
      if (signs.isGone(now, quietSince) || (streams.size === 0 && now - watched.idleSince > idleMs)) session.destroy();
      for (const [stream, begun] of streams) {
        const age = now - begun;
        if (age > requestMs + stalledMs) resetStream(stream);
        else if (age > requestMs && !stream.closed && !isComplete(stream)) rejectTimeout(stream, requestMs);
      }
    }
  }
}
