import type { ServerHttp2Session } from "node:http2";

/** How often a session is asked for a sign of life, and how often it may give none. */
const PING_MS = 20_000;
const MOST_UNANSWERED = 3;
/** How long no answer is on its way until it is asked for one besides, and how long the asking may stay unsent then. */
const QUIET_MS = 2_000;
const UNSENT_MS = 2_000;
/** How long one that takes leave may leave it unanswered: Node.js forgets there what it was to ask. */
const LEAVING_MS = 10_000;

/**
 * Whether there is still somebody at the other end of a session. Where a peer has broken the protocol, Node.js often
 * takes leave of it, reads no more, and never sees that the peer closes the connection. It sends no more either, so
 * what it is asked to send stays with it. Otherwise nothing does where no answer is on its way, since one is over when
 * the system has all of it.
 */
export class Keepalive {
  readonly #session: ServerHttp2Session;
  #asked: number;
  #unanswered = 0;

  constructor(session: ServerHttp2Session, now: number) {
    this.#session = session;
    this.#asked = now;
  }

  /** Whether it has given none for too long; to be asked again and again. Since `quietSince` no answer was on its way. */
  isGone(now: number, quietSince: number): boolean {
    // One that is being ended cannot be asked any more, and goes by itself.
    if (this.#session.destroyed) return false;
    if (this.#unanswered > MOST_UNANSWERED) return true;
    const waits = now - this.#asked;
    const hasAsked = this.#asked > quietSince;
    if (hasAsked && this.#unanswered > 0) {
      if (waits > UNSENT_MS && (this.#session.state.outboundQueueSize ?? 0) > 0) return true;
      if (waits > LEAVING_MS && this.#session.closed) return true;
    }
    if (waits > PING_MS || (!hasAsked && now - quietSince > QUIET_MS)) this.#ask(now);
    return false;
  }

  #ask(now: number): void {
    this.#asked = now;
    this.#unanswered++;
    this.#session.ping((error) => {
      if (error === null) this.#unanswered = 0;
    });
  }
}
