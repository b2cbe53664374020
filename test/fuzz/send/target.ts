/** The service under test, with pools of connections. */
import http from "node:http";
import http2 from "node:http2";

const MAX_SESSIONS = 4;
const REQUESTS_PER_SESSION = 4_000;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export class Target {
  readonly agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  readonly #sessions = new Map<number, { session: http2.ClientHttp2Session; left: number }>();
  #turn = 0;
  maxLatencyMs = 0;
  /** HTTP/2 connections that the service may not have closed yet after their clients. */
  lingering = 0;

  constructor(
    readonly host: string,
    readonly port: number,
    readonly limitMs: number,
  ) {}

  session(isNew: boolean): http2.ClientHttp2Session {
    this.#turn = (this.#turn + 1) % MAX_SESSIONS;
    const pooled = this.#sessions.get(this.#turn);
    if (pooled !== undefined && !isNew && pooled.left-- > 0 && !pooled.session.closed && !pooled.session.destroyed) {
      return pooled.session;
    }
    pooled?.session.close();
    const session = http2.connect(`http://${this.host}:${this.port}`);
    session.on("error", () => {});
    this.#sessions.set(this.#turn, { session, left: REQUESTS_PER_SESSION });
    return session;
  }

  /** `startedAt` is by `performance.now()`. */
  recordLatency(startedAt: number): void {
    this.maxLatencyMs = Math.max(this.maxLatencyMs, performance.now() - startedAt);
  }

  close(): void {
    this.agent.destroy();
    for (const { session } of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }
}
