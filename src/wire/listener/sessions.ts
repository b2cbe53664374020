import type http from "node:http";
import http2 from "node:http2";
import { type ConnectionLimits, IDLE_MS, STALLED_MS, tooSlow } from "./limits.js";

/** How often sessions are looked at. */
const LOOK_MS = 500;
/** The time for which cancelled requests are counted. */
const RESETS_MS = 10_000;
/** Streams of these paths are meant to last; whoever serves them bounds them. */
const LASTING = "/grpc.";

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** What is known of a session: its streams with the time at which each began, which for those that last is never, and when the last of them ended. */
interface Watched {
  readonly streams: Map<http2.ServerHttp2Stream, number>;
  idleSince: number;
  resets: number;
  resetsSince: number;
}

/**
 * HTTP/2 connections. What Node.js does for HTTP/1.1 is done here: requests
 * that do not arrive, callers who do not read, and connections on which bytes
 * come but no requests do all end.
 */
export class Sessions {
  readonly server: http2.Http2Server;
  readonly #limits: ConnectionLimits;
  readonly #sessions = new Map<http2.ServerHttp2Session, Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(handler: Handler, limits: ConnectionLimits) {
    this.#limits = limits;
    const settings = { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes };
    this.server = http2.createServer({ settings }, (request, response) =>
      // The compatibility classes of HTTP/2 have what Fastify uses of a request and a response.
      handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse),
    );
    this.server.on("session", (session) => this.#watch(session));
    // A peer that breaks the protocol loses its session; there is nobody else to tell.
    this.server.on("sessionError", (_error, session) => session.destroy());
  }

  /** Lets nothing new begin; each ends when what is under way on it has been answered. */
  drain(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  /** Ends every connection at once. */
  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }

  #watch(session: http2.ServerHttp2Session): void {
    const now = performance.now();
    const watched: Watched = { streams: new Map(), idleSince: now, resets: 0, resetsSince: now };
    this.#sessions.set(session, watched);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    session.once("close", () => {
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    session.on("stream", (stream, headers) => {
      const isLasting = headers[":path"]?.startsWith(LASTING) === true;
      watched.streams.set(stream, isLasting ? Number.POSITIVE_INFINITY : performance.now());
      stream.once("aborted", () => this.#countReset(session, watched));
      stream.once("close", () => {
        watched.streams.delete(stream);
        watched.idleSince = performance.now();
      });
    });
  }

  /** Requests that are cancelled as soon as they are made cost the caller nothing, and the service much. */
  #countReset(session: http2.ServerHttp2Session, watched: Watched): void {
    const now = performance.now();
    if (now - watched.resetsSince > RESETS_MS) {
      watched.resetsSince = now;
      watched.resets = 0;
    }
    watched.resets++;
    if (watched.resets > this.#limits.maxResets) session.destroy(undefined, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #look(): void {
    const now = performance.now();
    for (const [session, { streams, idleSince }] of this.#sessions) {
      if (streams.size === 0 && now - idleSince > IDLE_MS) session.close();
      for (const [stream, begun] of streams) {
        if (!stream.readableEnded && now - begun > this.#limits.requestMs) endSlow(stream, this.#limits.requestMs);
        else if (now - begun > STALLED_MS) stream.close(http2.constants.NGHTTP2_CANCEL);
      }
    }
  }
}

/** Ends a request that has not come whole, with the status of HTTP for it where none was sent. */
function endSlow(stream: http2.ServerHttp2Stream, requestMs: number): void {
  if (!stream.headersSent && !stream.destroyed) {
    stream.respond({ ":status": 408, "content-type": "application/json" });
    stream.end(JSON.stringify({ error: tooSlow(requestMs) }));
  }
  // Behind what was sent, and in place of the rest of the request.
  stream.close(http2.constants.NGHTTP2_NO_ERROR);
}
