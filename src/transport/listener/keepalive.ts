import type { ServerHttp2Session } from "node:http2";

const PING_MS = 20_000;
const MAX_UNANSWERED = 3;
/** A session in which no stream starts or ends for this long gets a PING early. */
const QUIET_MS = 2_000;
/** The same before its first PING. Short, because sessions that begin with a protocol error use memory until then. */
const FIRST_QUIET_MS = 50;
/** How long that PING may stay in the outbound queue while the client does not read. */
const UNSENT_MS = 2_000;
/** How long a PING may stay unanswered on a session that is closing. */
const CLOSING_MS = 10_000;

/** What a session does; times by `performance.now()`. */
export interface SessionActivity {
  /** When a stream last started or ended. */
  readonly quietSince: number;
  readonly isResponding: boolean;
  /** Whether the socket has bytes that the kernel has not accepted. */
  readonly hasUnsentBytes: boolean;
  /** Of the socket, since it opened. */
  readonly bytesWritten: number;
}

/**
 * Detects HTTP/2 clients that are gone. After a protocol error Node.js 20 sends GOAWAY, stops reading and writing, and
 * never sees that the client closes the connection (22.23 and 24.21 destroy the session). A PING then stays in the
 * outbound queue. Otherwise Node.js sends a PING before anything else, as soon as the kernel accepts bytes.
 */
export class Keepalive {
  readonly #session: ServerHttp2Session;
  #pingedAt: number;
  #unanswered = 0;
  #hasPinged = false;
  /** Node.js writes a PING at the end of the tick. On a busy machine two checks may run in one tick. */
  #mayBeSent = false;
  /** Bytes that the socket had written before the last PING. */
  #bytesAtPing = 0;

  constructor(session: ServerHttp2Session, now: number) {
    this.#session = session;
    this.#pingedAt = now;
  }

  /** Call regularly: it sends the PINGs. */
  isGone(now: number, { quietSince, isResponding, hasUnsentBytes, bytesWritten }: SessionActivity): boolean {
    // A destroyed session takes no PING and ends by itself.
    if (this.#session.destroyed) return false;
    if (this.#unanswered > MAX_UNANSWERED) return true;
    const sincePing = now - this.#pingedAt;
    const isPingedWhileQuiet = this.#pingedAt > quietSince;
    if (isPingedWhileQuiet && this.#unanswered > 0 && this.#mayBeSent) {
      const isUnsent = (this.#session.state.outboundQueueSize ?? 0) > 0;
      // The frames in the queue may be those of a response, queued in this tick after the PING was written.
      if (isUnsent && !hasUnsentBytes && bytesWritten === this.#bytesAtPing) return true;
      // A client may read a response slowly.
      if (!isResponding) {
        if (isUnsent && sincePing > UNSENT_MS) return true;
        // Node.js drops the queued PING of a closing session, so only the missing PING acknowledgement shows it.
        if (sincePing > CLOSING_MS && this.#session.closed) return true;
      }
    }
    const quietMs = this.#hasPinged ? QUIET_MS : FIRST_QUIET_MS;
    if (sincePing > PING_MS || (!isPingedWhileQuiet && now - quietSince > quietMs)) this.#ping(now, bytesWritten);
    return false;
  }

  #ping(now: number, bytesWritten: number): void {
    this.#pingedAt = now;
    this.#bytesAtPing = bytesWritten;
    this.#hasPinged = true;
    this.#unanswered++;
    this.#mayBeSent = false;
    setImmediate(() => (this.#mayBeSent = true));
    this.#session.ping((error) => {
      if (error === null) this.#unanswered = 0;
    });
  }
}
