/** Sends bytes on their own connection, which the service has to close after the client. */
import { once } from "node:events";
import net from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { type Input, type Outcome, toHex } from "../input.js";
import { judgeHttp1 } from "./http1-oracle.js";
import { judgeHttp2 } from "./http2-oracle.js";
import type { Target } from "./target.js";

export interface RawBytes {
  readonly chunks: readonly Buffer[];
  /** How long the client waits for responses before it ends the connection, in milliseconds. */
  readonly lingerMs: number;
  /** Ends with a reset instead of FIN. */
  readonly isReset: boolean;
}

/**
 * Wait for the close of an HTTP/2 connection, in milliseconds. After GOAWAY Node.js does not notice that the client
 * closes. The service closes such a connection later, which the leak check at the end of the run verifies.
 */
const HTTP2_CLOSE_MS = 50;

const MAX_KEPT_BYTES = 4 * 1024 * 1024;

export function createRawInput(raw: RawBytes): Input {
  return {
    send: (target) => exchange(target, raw),
    show() {
      const end = `waits ${raw.lingerMs} ms, then ${raw.isReset ? "resets" : "ends"}`;
      return `${raw.chunks.length} chunks, ${end}:\n${raw.chunks.map(toHex).join("\n")}`;
    },
  };
}

const isHttp2 = ({ chunks }: RawBytes): boolean => Buffer.concat(chunks).toString("latin1", 0, 3) === "PRI";

async function exchange(target: Target, raw: RawBytes): Promise<Outcome> {
  const startedAt = performance.now();
  const socket = net.connect({ host: target.host, port: target.port, noDelay: true });
  const closed = new Promise<boolean>((resolve) => socket.once("close", () => resolve(true)));
  const received: Buffer[] = [];
  let receivedBytes = 0;
  socket.on("data", (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes <= MAX_KEPT_BYTES) received.push(chunk);
  });
  const stop = new AbortController();
  try {
    await once(socket, "connect");
    // The service may reset the connection at any time.
    socket.on("error", () => {});
    for (const chunk of raw.chunks) {
      if (socket.destroyed) break;
      socket.write(chunk);
      await turn();
    }
    if (raw.lingerMs > 0) await Promise.race([closed, pause(raw.lingerMs)]);
    if (raw.isReset) socket.resetAndDestroy();
    else socket.end();
    let isClosed = await Promise.race([closed, expire(HTTP2_CLOSE_MS, stop.signal)]);
    if (isHttp2(raw)) {
      if (!isClosed) target.lingering++;
      return judgeHttp2(Buffer.concat(received));
    }
    isClosed ||= await Promise.race([closed, expire(target.limitMs, stop.signal)]);
    target.recordLatency(startedAt);
    const outcome = judgeHttp1(Buffer.concat(received));
    if (isClosed || outcome.fault !== undefined) return outcome;
    return { ...outcome, fault: `the connection is still open ${target.limitMs} ms after the client ended it` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { result: "nothing", fault: `no connection: ${reason}` };
  } finally {
    stop.abort();
    socket.destroy();
  }
}

/** Resolves with false after a time, or when aborted. */
async function expire(limitMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(limitMs, undefined, { signal });
  } catch {}
  return false;
}
