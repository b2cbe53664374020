/** The service that is asked, and the connections to it that are kept. */
import http from "node:http";
import http2 from "node:http2";

/** Connections of HTTP/2 that are kept at the same time. */
const SESSIONS = 4;
/** Requests on one of them, before another takes its place. */
const REQUESTS_OF_SESSION = 4_000;

export interface Answer {
  readonly status: number;
  /** Headers and trailers, as one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export class Target {
  readonly agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  readonly #sessions = new Map<number, { session: http2.ClientHttp2Session; left: number }>();
  #turn = 0;
  /** The longest that anything took, in milliseconds. */
  slowest = 0;
  /** Connections of HTTP/2 that the service may not have closed yet when their clients had. */
  lingering = 0;

  constructor(
    readonly host: string,
    readonly port: number,
    /** Longest that an answer may take, in milliseconds. */
    readonly limitMs: number,
  ) {}

  /** A connection of HTTP/2 that takes requests; a fresh one where asked for. */
  session(isFresh: boolean): http2.ClientHttp2Session {
    this.#turn = (this.#turn + 1) % SESSIONS;
    const kept = this.#sessions.get(this.#turn);
    if (kept !== undefined && !isFresh && kept.left-- > 0 && !kept.session.closed && !kept.session.destroyed) {
      return kept.session;
    }
    // Ends when what is under way on it has been answered.
    kept?.session.close();
    const session = http2.connect(`http://${this.host}:${this.port}`);
    // What becomes of its streams is told by them.
    session.on("error", () => {});
    this.#sessions.set(this.#turn, { session, left: REQUESTS_OF_SESSION });
    return session;
  }

  /** Notes how long something took that began then. */
  took(since: number): void {
    this.slowest = Math.max(this.slowest, performance.now() - since);
  }

  close(): void {
    this.agent.destroy();
    for (const { session } of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }
}
