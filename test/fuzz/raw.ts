/** Sends bytes on their own connection, which the service has to close after the client, and judges what it answers. */
import { once } from "node:events";
import net from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { type Input, type Outcome, type Target, toHex, truncate } from "./send.js";

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

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;

/** Every response is valid HTTP/1.1 with a status below 500. */
function judgeHttp1(bytes: Buffer): Outcome {
  let result = "nothing";
  for (let rest = bytes.toString("latin1"); rest !== "";) {
    const [, status] = STATUS_LINE.exec(rest) ?? [];
    // The beginning of a response on a connection that was cut.
    if (status === undefined && rest.length < 13 && "HTTP/1.1 ".startsWith(rest.slice(0, 9))) break;
    if (status === undefined) return { result: "0", fault: `not HTTP: ${truncate(rest)}` };
    const end = rest.indexOf("\r\n\r\n");
    result = status;
    if (Number(status) >= 500) return { result, fault: truncate(end === -1 ? rest : rest.slice(0, end + 400)) };
    if (end === -1) break;
    const afterHead = rest.slice(end + 4);
    rest = afterHead.slice(readBodyLength(rest.slice(0, end + 2), afterHead));
  }
  return { result };
}

/** Responses to HEAD and interim responses have no body: another status line follows. */
function readBodyLength(head: string, afterHead: string): number {
  if (STATUS_LINE.test(afterHead)) return 0;
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head))
    return Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
  const lastChunk = afterHead.indexOf("0\r\n\r\n");
  return lastChunk === -1 ? afterHead.length : lastChunk + 5;
}

const [HEADERS, RST_STREAM, GOAWAY] = [1, 3, 7];

/** Every status of HTTP/2 is below 500. */
function judgeHttp2(bytes: Buffer): Outcome {
  let result = "nothing";
  for (let at = 0; at + 9 <= bytes.length;) {
    const [length, type, stream] = [bytes.readUIntBE(at, 3), bytes[at + 3], bytes.readUInt32BE(at + 5) & 0x7fffffff];
    const payload = bytes.subarray(at + 9, at + 9 + length);
    if (type === HEADERS) {
      const status = readStatus(payload);
      if (status !== undefined) result = String(status);
      if (status !== undefined && status >= 500) return { result, fault: `status ${status} on stream ${stream}` };
    }
    if (type === GOAWAY) result = `goaway ${payload.length >= 8 ? payload.readUInt32BE(4) : ""}`;
    if (type === RST_STREAM && result === "nothing")
      result = `reset ${payload.length >= 4 ? payload.readUInt32BE(0) : ""}`;
    at += 9 + length;
  }
  return { result };
}

/** Statuses by their index in the static table of HPACK (RFC 7541, appendix A). */
const STATIC_TABLE: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };

/** The status at the start of a header block; undefined for trailers, and for entries of the dynamic table. */
function readStatus(block: Buffer): number | undefined {
  let at = 0;
  // Skips a dynamic table size update, whose integer is short here.
  while (at < block.length && ((block[at] ?? 0) & 0xe0) === 0x20) at += ((block[at] ?? 0) & 0x1f) === 0x1f ? 3 : 1;
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return STATIC_TABLE[first & 0x7f];
  const name = (first & 0x40) === 0 ? first & 0x0f : first & 0x3f;
  // Huffman coding does not shorten three digits, so they are literal.
  if (name < 8 || name > 14 || block[at + 1] !== 3) return undefined;
  return Number(block.toString("latin1", at + 2, at + 5));
}
