import { constants, type ServerHttp2Session } from "node:http2";

/** Maximum streams that Node.js resets itself, between two checks. */
const MAX_RESETS = 100;

/**
 * Counts the streams of an HTTP/2 session that Node.js resets itself after it has decoded their headers: those with too
 * many fields, or with too large a header. Node.js emits no event for them, but the id of the latest stream includes
 * them. Can go when Node.js limits them.
 */
export class NativeResets {
  readonly #session: ServerHttp2Session;
  #emitted = 0;
  /** At the last check. */
  #resets = 0;

  constructor(session: ServerHttp2Session) {
    this.#session = session;
  }

  /** Call this for each "stream" event of the session. */
  countStream(): void {
    this.#emitted++;
  }

  /** Ends the session if it has too many. */
  check(): void {
    if (this.#session.destroyed) return;
    const { lastProcStreamID: last = 0 } = this.#session.state;
    // Streams of clients have odd ids.
    const resets = Math.ceil(last / 2) - this.#emitted;
    const isFlood = resets - this.#resets > MAX_RESETS;
    this.#resets = resets;
    if (!isFlood) return;
    // Without an error Node.js ignores the code.
    this.#session.destroy(new Error("too many streams reset"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}
