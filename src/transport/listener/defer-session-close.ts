import type { ServerHttp2Session } from "node:http2";

/**
 * Has a session close and end behind the bytes that are being read, whoever asks for it. Node.js itself does so while
 * it reads, as when a caller takes leave of it (GOAWAY), and reads on, which anybody can make use of with two hundred
 * bytes against a server of `node:http2` alone on Node.js 20.20 and 24.11:
 *
 * - To a session that is closing it refuses a request behind the leave, and sends
 *   that while it reads. With it goes its own leave, which frees the request's
 *   stream, and nghttp2 goes on to read and to write where that was.
 * - On a session that has ended, a malformed frame behind the leave fails an
 *   assertion of nghttp2, which ends the process.
 */
export function deferSessionClose(session: ServerHttp2Session): void {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  // Ticks and promises run while it reads; this does not.
  session.close = (...args) => void setImmediate(() => close(...args));
  session.destroy = (...args) => void setImmediate(() => destroy(...args));
}
