/** Bounds what the requests of one turn of the event loop take: until it is over, nobody else is served. */
import type { IncomingMessage, RequestListener } from "node:http";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import { type Protocol, REQUEST_ID, requestIdOf } from "../telemetry/request-record.js";
import { corsHeaders, type Origins } from "./cors.js";
import type { Http2Handler } from "./http2-sessions.js";
import type { Budget } from "./limits.js";
import { grpcProtocolOf } from "./rpc/media-types.js";

/** Health by every protocol; there is no route yet. */
const HEALTH = /^\/(?:livez|readyz|(?:offledger|grpc)\.health\.[^?]*)(?:\?|$)/;
/** The path of an rpc, such as `/offledger.health.v1.HealthService/GetLiveness`. */
const RPC = /^\/[\w.]+\.\w+\/\w+(?:\?|$)/;
/** How often a connection may ask for health in a turn that is over. */
const HEALTH_EVERY_MS = 100;
const REFUSAL = Buffer.from(JSON.stringify({ error: "server overloaded; retry later" }));

/** Learns of requests that are refused before they have a record. Must be fast and must not throw. */
export type OnRefused = (protocol: Protocol) => void;

/**
 * Node.js reads all that has arrived, and so runs all of its requests, in one turn. A flood of requests would make it last
 * for seconds, and a probe would wait. @fastify/under-pressure measures between turns; this refuses the rest of a long one
 * before it costs anything. Each connection may ask for health still, at the pace of a probe: libuv reads on in the same turn
 * while many connections are ready.
 */
export class EventLoopGuard {
  /** Connections in this turn. */
  #refused = new WeakSet<Socket>();
  /** When each connection has asked for health in a turn that was over. */
  readonly #probedAt = new WeakMap<object, number>();
  #startedAt: number | undefined;

  /** `maxMs` is how long the requests of a turn may take together. What it refuses counts as refused by `requests`. */
  constructor(
    private readonly maxMs: number,
    private readonly requests: Budget,
    private readonly corsOrigins: Origins = "none",
    private readonly onRefused: OnRefused = () => undefined,
  ) {}

  /** Refuses with 503. A connection that has sent more in the turn, maybe thousands of requests, is closed. */
  limitHttp1(handler: RequestListener): RequestListener {
    return (request, response) => {
      const { socket, headers } = request;
      // What was read with the request that ended it.
      if (socket.destroyed) return;
      if (this.#serves(socket, request)) return handler(request, response);
      if (this.#refused.has(socket)) {
        socket.destroy();
        return;
      }
      this.#refused.add(socket);
      response.writeHead(503, {
        "content-type": "application/json",
        "content-length": REFUSAL.length,
        "retry-after": "1",
        [REQUEST_ID]: requestIdOf(headers),
        ...corsHeaders(this.corsOrigins, headers),
      });
      response.end(REFUSAL);
      // The rest of the body, up to the time of a request.
      request.resume();
    };
  }

  /**
   * Refuses with 503 and no body, which needs no window of the client, and costs half of RST_STREAM, for which Node.js makes
   * an error. The compatibility classes have every member that Fastify uses.
   */
  limitHttp2(handler: RequestListener): Http2Handler {
    const serve = handler as unknown as Http2Handler;
    return (request, response) => {
      const { stream } = request;
      if (this.#serves(stream.session ?? stream, request)) return serve(request, response);
      // At the end of the turn: until then the stream counts, and Node.js itself rejects what is beyond their limit.
      setImmediate(() => {
        if (stream.destroyed) return;
        const { headers } = request;
        const cors = corsHeaders(this.corsOrigins, headers);
        stream.respond(
          { ":status": 503, "retry-after": "1", [REQUEST_ID]: requestIdOf(headers), ...cors },
          { endStream: true },
        );
        stream.close(constants.NGHTTP2_NO_ERROR);
      });
    };
  }

  #serves(connection: object, { url = "", headers }: Pick<IncomingMessage, "url" | "headers">): boolean {
    const now = performance.now();
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      setImmediate(() => {
        this.#startedAt = undefined;
        this.#refused = new WeakSet();
      });
    }
    if (now - this.#startedAt <= this.maxMs) return true;
    if (HEALTH.test(url) && now - (this.#probedAt.get(connection) ?? -Infinity) >= HEALTH_EVERY_MS) {
      this.#probedAt.set(connection, now);
      return true;
    }
    this.requests.refuse();
    this.onRefused(grpcProtocolOf({ headers }) ?? (RPC.test(url) ? "connect" : "rest"));
    return false;
  }
}
