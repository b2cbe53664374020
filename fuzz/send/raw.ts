/** Bytes on a connection of their own, which has to end when its client has ended it. */
import { once } from "node:events";
import net from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { hex, type Input, type Outcome } from "../input.js";
import { judgeHttp1 } from "./http1-oracle.js";
import { judgeHttp2 } from "./http2-oracle.js";
import type { Target } from "./target.js";

export interface Raw {
  /** What is written, piece by piece. */
  readonly pieces: readonly Buffer[];
  /** How long answers are waited for before the client ends its side, in milliseconds. */
  readonly lingerMs: number;
  /** Cuts the connection as a crash does, rather than to end it. */
  readonly isReset: boolean;
}

/**
 * How long the end of a connection of HTTP/2 is waited for, in milliseconds. Node.js does not see that a client closes
 * whom it has sent GOAWAY; the service ends such a connection later, and whether it does is seen when all is over.
 */
const PATIENCE_MS = 50;

/** The most that is kept of what comes back. */
const MOST_KEPT = 4 * 1024 * 1024;

/** An input that is bytes. */
export function raw(sent: Raw): Input {
  return {
    send: (target) => exchange(target, sent),
    show() {
      const how = `waits ${sent.lingerMs} ms, then ${sent.isReset ? "resets" : "ends"}`;
      return `${sent.pieces.length} pieces, ${how}:\n${sent.pieces.map(hex).join("\n")}`;
    },
  };
}

/** Whether the bytes are for HTTP/2, by which the service tells it too. */
const isHttp2 = ({ pieces }: Raw): boolean => Buffer.concat(pieces).toString("latin1", 0, 3) === "PRI";

async function exchange(target: Target, sent: Raw): Promise<Outcome> {
  const since = performance.now();
  const socket = net.connect({ host: target.host, port: target.port, noDelay: true });
  const closed = new Promise<boolean>((resolve) => socket.once("close", () => resolve(true)));
  const chunks: Buffer[] = [];
  let kept = 0;
  socket.on("data", (chunk: Buffer) => {
    kept += chunk.length;
    if (kept <= MOST_KEPT) chunks.push(chunk);
  });
  const stop = new AbortController();
  try {
    await once(socket, "connect");
    // The service may cut the connection at any time; that is its right.
    socket.on("error", () => {});
    for (const piece of sent.pieces) {
      if (socket.destroyed) break;
      socket.write(piece);
      await turn();
    }
    if (sent.lingerMs > 0) await Promise.race([closed, pause(sent.lingerMs)]);
    if (sent.isReset) socket.resetAndDestroy();
    else socket.end();
    let isClosed = await Promise.race([closed, late(PATIENCE_MS, stop.signal)]);
    if (isHttp2(sent)) {
      if (!isClosed) target.lingering++;
      return judgeHttp2(Buffer.concat(chunks));
    }
    isClosed ||= await Promise.race([closed, late(target.limitMs, stop.signal)]);
    target.took(since);
    const outcome = judgeHttp1(Buffer.concat(chunks));
    if (isClosed || outcome.wrong !== undefined) return outcome;
    return { ...outcome, wrong: `the connection is still open ${target.limitMs} ms after the client has ended it` };
  } catch (error) {
    return { came: "nothing", wrong: `no connection: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    stop.abort();
    socket.destroy();
  }
}

async function late(limitMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(limitMs, undefined, { signal });
  } catch {
    // Nobody waits any more.
  }
  return false;
}
