import type { ServerHttp2Session } from "node:http2";

/**
 * Works around a defect of Node.js, seen in 20.20 and 24.11. It closes a session from inside the read, for instance
 * when the client sends GOAWAY, and goes on parsing. 200 bytes then crash a plain `node:http2` server:
 *
 * - GOAWAY, then a request: the session refuses it and sends its own GOAWAY, which frees the stream that nghttp2 is
 *   still parsing (use after free).
 * - GOAWAY, then a malformed frame: the session is destroyed already, and an assertion of nghttp2 aborts the process.
 *
 * Closing and destroying therefore wait until the read is over. This file can go when goaway.slow.test.ts passes without it
 * on every supported Node.js release.
 */
export function deferSessionClose(session: ServerHttp2Session): void {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  // Ticks and promises run inside the read; immediates do not.
  session.close = (...args) => void setImmediate(() => close(...args));
  session.destroy = (...args) => void setImmediate(() => destroy(...args));
}
