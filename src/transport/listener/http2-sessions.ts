import type http from "node:http";
import http2 from "node:http2";
import type { Socket } from "node:net";
import { drainBody } from "../drain-body.js";
import { type Connection, isEndless } from "../admission/connection.js";
import { WindowCounter } from "../admission/window-counter.js";
import type { Connections, Handler } from "./connections.js";
import { deferSessionClose } from "./defer-session-close.js";
import {
  headerBytes,
  isComplete,
  isLongLived,
  isResponding,
  rejectHeaders,
  rejectTimeout,
  resetStream,
} from "./http2-streams.js";
import { Keepalive } from "./keepalive.js";
import { type ConnectionLimits, IDLE_MS, STALLED_MS } from "./limits.js";
import { rejectConnect, rejectExpectation } from "./refusals.js";
import { hasUnsentBytes } from "./unsent-bytes.js";

const CHECK_MS = 500;
/** Checks spread the sessions over this many ticks, so that sessions opened together do not all close in one. */
const CHECK_PARTS = 10;
/** A timer that is so late shows a busy event loop. Then more sessions are checked. */
const LATE_MS = 10;
const MAX_LATE_CHECKS = 1_000;
/** A new session is checked in every tick of the timer for so long, because many that break the protocol begin with it. */
const NEW_MS = 500;
/** Of one request, with its four pseudo-headers. Node.js resets a stream with more. */
const MAX_HEADER_FIELDS = 100;
/**
 * Memory of a session for each stream that it may have: header, and the waiting part of the response. Beyond the sum
 * Node.js resets further streams. Node.js 20 also ends a session then that sends too many header fields.
 */
const STREAM_BYTES = 40_000;
/** The window in which cancelled requests are counted. */
const RESETS_MS = 10_000;

interface Timeouts {
  readonly idleMs: number;
  readonly stalledMs: number;
}

/** Times are those of `performance.now()`. */
interface OpenStream {
  /** Infinity for a long-lived stream, which does not time out here. */
  readonly startedAt: number;
  readonly headers: http2.IncomingHttpHeaders;
  /** Bytes of the response that waited for the client at the latest check, and since when they are as many. */
  unsent: number;
  unsentSince: number;
}

interface SessionState {
  readonly startedAt: number;
  readonly streams: Map<http2.ServerHttp2Stream, OpenStream>;
  /** When the session started, or a stream last started or ended. */
  quietSince: number;
  readonly resets: WindowCounter;
  readonly keepalive: Keepalive;
  readonly socket: Socket | undefined;
  readonly connection: Connection | undefined;
}

/** Adds timeouts that `node:http2` lacks: slow requests, clients that do not read or are gone, idle sessions. */
export class Http2Sessions {
  readonly #server: http2.Http2Server;
  readonly #connections: Connections;
  readonly #limits: ConnectionLimits;
  readonly #timeouts: Timeouts;
  readonly #sessions = new Map<http2.ServerHttp2Session, SessionState>();
  readonly #newSessions = new Map<http2.ServerHttp2Session, SessionState>();
  /** A socket outlives its session while the client does not read what was sent last. */
  readonly #sockets = new Set<Socket>();
  /** The sessions that this round of checks has not reached yet. */
  #unchecked = this.#sessions.entries();
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #accepting: Socket | undefined;

  /** `timeouts` is for tests. */
  constructor(
    handler: Handler,
    limits: ConnectionLimits,
    connections: Connections,
    timeouts: Timeouts = { idleMs: IDLE_MS, stalledMs: STALLED_MS },
  ) {
    this.#limits = limits;
    this.#connections = connections;
    this.#timeouts = timeouts;
    const settings = { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes };
    const onRequest = requestListener(handler, connections, limits.maxHeaderBytes);
    this.#server = http2.createServer(
      { settings, maxHeaderListPairs: MAX_HEADER_FIELDS, maxSessionMemory: sessionMegabytes(limits.maxStreams) },
      onRequest,
    );
    this.#server.on("checkContinue", (request, response) => {
      // writeContinue throws on a stream that the client has reset.
      if (!request.stream.destroyed && !request.stream.closed) response.writeContinue();
      onRequest(request, response);
    });
    this.#server.on("checkExpectation", rejectExpectation).on("connect", rejectConnect);
    this.#server.on("session", (session) => this.#track(session));
    this.#server.on("sessionError", (_error, session) => session.destroy());
  }

  accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // An HTTP/1.1 client may half-close and wait for the response. An HTTP/2 client that sends FIN is gone.
    socket.allowHalfOpen = false;
    // The server creates the session in this call.
    this.#accepting = socket;
    this.#server.emit("connection", socket);
    this.#accepting = undefined;
  }

  /** Sends GOAWAY: each session ends when its open streams are done. */
  drain(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #track(session: http2.ServerHttp2Session): void {
    deferSessionClose(session);
    const now = performance.now();
    const state: SessionState = {
      startedAt: now,
      streams: new Map(),
      quietSince: now,
      resets: new WindowCounter(this.#limits.maxResets, RESETS_MS),
      keepalive: new Keepalive(session, now),
      socket: this.#accepting,
      connection: this.#accepting && this.#connections.registerSession(session, this.#accepting),
    };
    this.#sessions.set(session, state);
    this.#newSessions.set(session, state);
    this.#timer ??= setInterval(() => this.#checkNext(), CHECK_MS / CHECK_PARTS).unref();
    session.once("close", () => {
      this.#sessions.delete(session);
      this.#newSessions.delete(session);
      // The socket may linger.
      if (state.connection !== undefined) this.#connections.leave(state.connection);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    session.on("stream", (stream, headers) => {
      state.quietSince = performance.now();
      const startedAt = isLongLived(headers) ? Number.POSITIVE_INFINITY : state.quietSince;
      state.streams.set(stream, { startedAt, headers, unsent: 0, unsentSince: state.quietSince });
      stream.once("close", () => {
        state.streams.delete(stream);
        state.quietSince = performance.now();
        if (stream.aborted) this.#countReset(session, state);
      });
    });
  }

  /** Bounds rapid reset (CVE-2023-44487): cancelling is free for the client and costs the service a request. */
  #countReset(session: http2.ServerHttp2Session, state: SessionState): void {
    if (!state.resets.add()) return;
    // Without an error Node.js ignores the code.
    session.destroy(new Error("too many resets"), http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #checkNext(): void {
    const now = performance.now();
    for (const [session, state] of this.#newSessions) {
      if (now - state.startedAt > NEW_MS) this.#newSessions.delete(session);
      else this.#checkTimeouts(session, state, now);
    }
    const isLate = now - this.#tickedAt > CHECK_MS / CHECK_PARTS + LATE_MS;
    this.#tickedAt = now;
    const part = Math.ceil(this.#sessions.size / CHECK_PARTS);
    const count = isLate ? Math.max(part, MAX_LATE_CHECKS) : part;
    for (let left = Math.min(count, this.#sessions.size); left > 0; left--) {
      const [session, state] = this.#nextUnchecked() ?? [];
      if (session === undefined || state === undefined) return;
      this.#checkTimeouts(session, state, now);
    }
  }

  /** In rounds; undefined if there is no session. */
  #nextUnchecked(): [http2.ServerHttp2Session, SessionState] | undefined {
    const next = this.#unchecked.next();
    if (next.done !== true) return next.value;
    this.#unchecked = this.#sessions.entries();
    return this.#unchecked.next().value;
  }

  #checkTimeouts(session: http2.ServerHttp2Session, state: SessionState, now: number): void {
    const { requestMs } = this.#limits;
    const { idleMs, stalledMs } = this.#timeouts;
    const { streams, keepalive, socket, connection, quietSince } = state;
    if (session.closed && streams.size === 0 && connection !== undefined) this.#connections.leave(connection);
    const isIdle = streams.size === 0 && now - quietSince > idleMs;
    const activity = {
      quietSince,
      isResponding: isResponding(streams.keys()),
      hasUnsentBytes: socket === undefined || hasUnsentBytes(socket),
      bytesWritten: socket?.bytesWritten ?? 0,
    };
    if (keepalive.isGone(now, activity) || isIdle) session.destroy();
    for (const [stream, open] of streams) {
      const age = now - open.startedAt;
      const isStalled = isEndless(stream) ? stalledFor(stream, open, now) > stalledMs : age > requestMs + stalledMs;
      if (isStalled) resetStream(stream);
      else if (age > requestMs && !stream.closed && !isComplete(stream)) rejectTimeout(stream, open.headers, requestMs);
    }
  }
}

/** How long the client has taken nothing of a stream without end. Its age says nothing. */
function stalledFor(stream: http2.ServerHttp2Stream, open: OpenStream, now: number): number {
  const { writableLength: unsent, closed } = stream;
  if (!closed && (unsent === 0 || unsent !== open.unsent)) {
    open.unsent = unsent;
    open.unsentSince = now;
  }
  return now - open.unsentSince;
}

/** At least the default of Node.js. */
const sessionMegabytes = (maxStreams: number): number =>
  Math.max(10, Math.ceil((maxStreams * STREAM_BYTES) / 1_000_000));

function requestListener(handler: Handler, connections: Connections, maxHeaderBytes: number) {
  const handle = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse): void => {
    // Node.js applies maxHeaderListSize only after the client has acknowledged the setting.
    if (headerBytes(request.rawHeaders) > maxHeaderBytes) rejectHeaders(response, maxHeaderBytes);
    // The compatibility classes of node:http2 have every member that Fastify uses.
    else handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse);
  };
  return (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse): void => {
    const handleInTurn = () => connections.handleHttp2(request, () => handle(request, response));
    if (request.method !== "HEAD" || request.stream.endAfterHeaders) return handleInTurn();
    // Node.js drops the stream of a HEAD request once it is answered, and a client still sending a body would hang.
    void drainBody(request).then(() => request.stream.destroyed || handleInTurn());
  };
}
