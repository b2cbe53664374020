import type { Duplex } from "node:stream";

const LINGER_MS = 2_000;
const MAX_BYTES = 1024 * 1024;

/** For tests. */
export interface LingerLimits {
  readonly lingerMs: number;
  readonly maxBytes: number;
}

/**
 * Sends the last bytes of a connection, and reads what the client still sends until it closes too (RFC 9112, 9.6).
 * Closing at once would reset the connection: a client that is still sending then fails before it reads the response.
 */
export function lingeringClose(
  socket: Duplex,
  lastBytes: string,
  { lingerMs, maxBytes }: LingerLimits = { lingerMs: LINGER_MS, maxBytes: MAX_BYTES },
): void {
  let received = 0;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  // The parser would fail again.
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) socket.destroy();
  });
  socket.end(lastBytes);
  socket.resume();
}
