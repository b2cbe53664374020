import type { ServerHttp2Session } from "node:http2";

/**
 * Has a session end behind the bytes that are being read, whoever ends it. Node.js
 * itself ends one while it reads, as when a caller takes leave of it (GOAWAY), and
 * reads on; a malformed frame behind it in the same bytes then fails an assertion
 * of nghttp2, which ends the process. So two hundred bytes from anybody end every
 * server of HTTP/2 on Node.js 20.20 and 24.11.
 */
export function endBehindReading(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session);
  // Ticks and promises run while it reads; this does not.
  session.destroy = (...args) => void setImmediate(() => destroy(...args));
}
