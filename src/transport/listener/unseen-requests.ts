import { constants, type ServerHttp2Session } from "node:http2";

/** A session with more of these requests between two checks ends. */
const MAX_UNSEEN = 100;

/**
 * Requests of an HTTP/2 session that Node.js resets itself, after it has read their headers: with too many fields, or too
 * large. No event tells of them, but the ids of streams count them. Can go when Node.js limits them.
 */
export class UnseenRequests {
  readonly #session: ServerHttp2Session;
  #seen = 0;
  /** At the last check. */
  #unseen = 0;

  constructor(session: ServerHttp2Session) {
    this.#session = session;
  }

  /** Call this for each request that Node.js passes on. */
  countSeen(): void {
    this.#seen++;
  }

  /** Ends the session of a client that sends many of them. */
  check(): void {
    if (this.#session.destroyed) return;
    const { lastProcStreamID: last = 0 } = this.#session.state;
    // Clients use odd ids.
    const unseen = Math.ceil(last / 2) - this.#seen;
    const isFlood = unseen - this.#unseen > MAX_UNSEEN;
    this.#unseen = unseen;
    if (!isFlood) return;
    // Without an error Node.js ignores the code.
    this.#session.destroy(new Error("too many requests reset"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}
