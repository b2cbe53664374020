/** The sessions and streams of HTTP/2, and their limits. */
import http2, {
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type net from "node:net";
import { fixRequestId, REQUEST_ID } from "../telemetry/request-record.js";
import { corsHeaders } from "./cors.js";
import { type ConnectionLimits, IDLE_MS, isEndless, STALLED_MS, timeoutMessage } from "./limits.js";
import { deferSessionClose } from "./node-workarounds.js";

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants;
/** Of one request, with its four pseudo-headers. Node.js resets a stream with more. */
const MAX_HEADER_FIELDS = 100;
/**
 * Memory of a session for each stream that it may have: header, and the waiting part of the response. Beyond the sum
 * Node.js resets further streams. At least its default.
 */
const STREAM_BYTES = 40_000;
const MIN_SESSION_MEGABYTES = 10;
/** Every client may use these: RFC 9113, section 6.8. */
const LAST_STREAM_ID = 2 ** 31 - 1;

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** `node:http2` has the mechanisms of the time limits, but applies none by itself. */
export class Http2Sessions {
  readonly #server: http2.Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** From when clients go away: how long they may still send what is on its way. */
  #pauseMs: number | undefined;

  constructor(
    private readonly limits: ConnectionLimits,
    handler: Http2Handler,
  ) {
    const { maxStreams, maxHeaderBytes } = limits;
    this.#server = http2.createServer(
      {
        settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
        maxHeaderListPairs: MAX_HEADER_FIELDS,
        maxSessionMemory: Math.max(MIN_SESSION_MEGABYTES, Math.ceil((maxStreams * STREAM_BYTES) / 1_000_000)),
      },
      handler,
    );
    this.#server.on("session", (session) => this.#limit(session));
    this.#server.on("sessionError", (_error, session) => session.destroy());
  }

  accept(socket: net.Socket): void {
    // An HTTP/1.1 client may half-close and wait for the response. An HTTP/2 client that sends FIN is gone.
    socket.allowHalfOpen = false;
    this.#server.emit("connection", socket);
  }

  /**
   * Tells clients to use other connections. Each session, also one that begins from now on, takes requests for `pauseMs`,
   * and ends when they are done. nghttp2 reads no more of one that has none: its last GOAWAY says that a retry is safe.
   */
  goAway(pauseMs: number): void {
    this.#pauseMs = pauseMs;
    for (const session of this.#sessions) tellToGoAway(session, pauseMs);
  }

  destroy(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #limit(session: ServerHttp2Session): void {
    const { idleMs = IDLE_MS, stalledMs = STALLED_MS } = this.limits;
    deferSessionClose(session);
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    if (this.#pauseMs !== undefined) tellToGoAway(session, this.#pauseMs);
    let streams = 0;
    session.on("stream", (stream, headers) => {
      streams++;
      stream.once("close", () => streams--);
      limitStream(stream, headers, this.limits);
    });
    session.setTimeout(idleMs);
    session.on("timeout", () => {
      if (streams === 0) session.destroy();
      else probe(session, stalledMs, () => session.setTimeout(idleMs));
    });
  }
}

function tellToGoAway(session: ServerHttp2Session, pauseMs: number): void {
  if (session.destroyed || session.closed) return;
  session.goaway(NGHTTP2_NO_ERROR, LAST_STREAM_ID);
  const timer = setTimeout(() => session.close(), pauseMs);
  session.once("close", () => clearTimeout(timer));
}

/**
 * Streams may be silent for long, but their client answers a ping. A session that has failed does not: Node.js neither reads it
 * any more nor ends it.
 */
function probe(session: ServerHttp2Session, withinMs: number, alive: () => void): void {
  const timer = setTimeout(() => session.destroy(), withinMs);
  session.once("close", () => clearTimeout(timer));
  const isSent = session.ping((error) => {
    clearTimeout(timer);
    if (error === null) alive();
    else session.destroy();
  });
  if (!isSent) session.destroy();
}

function limitStream(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { requestMs, stalledMs = STALLED_MS, corsOrigins = "none" }: ConnectionLimits,
): void {
  // A hook has rejected it. Closing ends timeouts; one that is set later would keep the stream until it expires.
  if (stream.closed) return;
  // Node.js reports a stream that neither sends nor receives. Where nothing waits, the client waits for the service.
  stream.setTimeout(stalledMs, () => {
    if (stream.writableLength === 0) return;
    stream.close(NGHTTP2_CANCEL);
    // Also where the connection takes nothing: RST_STREAM alone would wait for it.
    stream.destroy();
  });
  if (isComplete(stream)) return;
  const timer = setTimeout(() => {
    if (!stream.closed && !isComplete(stream) && !isEndless(stream))
      rejectTimeout(stream, headers, requestMs, stalledMs, corsHeaders(corsOrigins, headers));
  }, requestMs);
  stream.once("close", () => clearTimeout(timer));
}

/** Whether the whole request has arrived, read or not. */
export const isComplete = (stream: ServerHttp2Stream): boolean =>
  stream.readableEnded || stream.endAfterHeaders || stream.state.remoteClose === 1;

/** Ends a request that has not arrived in time, with 408 if no response has begun. */
function rejectTimeout(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  requestMs: number,
  stalledMs: number,
  cors: Readonly<Record<string, string>>,
): void {
  if (!stream.headersSent && !stream.destroyed) {
    stream.respond({
      ":status": 408,
      "content-type": "application/json",
      [REQUEST_ID]: fixRequestId(headers),
      ...cors,
    });
    stream.end(JSON.stringify({ error: timeoutMessage(requestMs) }));
  }
  // RST_STREAM follows the response and stops the rest of the request.
  stream.close(NGHTTP2_NO_ERROR);
  // Closing has ended the timeout; a client that does not read would keep the stream.
  stream.setTimeout(stalledMs, () => stream.destroy());
}
