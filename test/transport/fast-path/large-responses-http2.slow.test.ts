/** Large responses over HTTP/2 to clients that read at different paces: each client gets its own bytes. */
import { once } from "node:events";
import http2 from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Server } from "../../../src/transport/server.js";
import { type LargeRequest, encodeRequest, checkBody } from "../../fixtures/large-responses.js";
import {
  startClients,
  startUnreadClients,
  type Pace,
  createRequests,
  serve,
  WAIT_MS,
  overflowRequests,
  pausedConnection,
  collectErrors,
} from "../../fixtures/paced-clients.js";
import { gate, until, within } from "../../fixtures/wait.js";

const KB = 1024;
const LARGEST_WINDOW = 2 ** 31 - 1;
const forms = ["REST", "Connect JSON", "gRPC", "Connect binary"] as const;

let server: Server;
let url: string;
beforeAll(async () => {
  ({ server, url } = await serve());
});
afterAll(() => server.close(100));

/** Reads a stream until it closes, and checks the body. Reading starts after `mayRead`. */
async function readAndCheck(
  session: http2.ClientHttp2Session,
  pace: Pace,
  request: LargeRequest,
  mayRead?: Promise<void>,
) {
  const { method, path, type, body } = encodeRequest(request);
  const stream = session.request({ ":method": method, ":path": path, "content-type": type, te: "trailers" });
  stream.end(body);
  const chunks: Buffer[] = [];
  const closed = once(stream, "close");
  await mayRead;
  let left = 100 * KB;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    left -= chunk.length;
    if (pace === "reset" && left < 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    if (pace !== "slow") return;
    stream.pause();
    setTimeout(() => stream.resume(), 1);
  });
  await within(WAIT_MS, "the stream closes", closed);
  return checkBody(request, Buffer.concat(chunks), pace === "reset");
}

function sessionTo(to: string, options: http2.SecureClientSessionOptions = {}): http2.ClientHttp2Session {
  const session = http2.connect(to, options);
  onTestFinished(() => session.destroy());
  return session.on("error", () => {});
}

test("streams that are read at once, slowly, late, or reset midway get their own bytes", async () => {
  const sessions = Array.from({ length: 3 }, () => sessionTo(url));
  const start = (pace: Pace, total: number, mayRead?: Promise<void>): Promise<string[]>[] =>
    sessions.flatMap((session) =>
      createRequests(total, forms).map((request) => readAndCheck(session, pace, request, mayRead)),
    );
  const reading = gate();
  const others = await startUnreadClients(url, 1);
  const [late, slow] = [start("paused", 4, reading.opened), start("slow", 4)];
  const wrong: string[][] = [];
  for (let round = 0; round < 3; round++) {
    // HTTP/1.1 responses reuse pooled buffers, and gRPC copies from them.
    const fast = startClients(url, 2, "fast", () => createRequests(5));
    wrong.push(...(await Promise.all([...start("fast", 4), ...start("reset", 3)])), await collectErrors(fast));
  }
  reading.open();
  for (const client of others) client.read();
  wrong.push(...(await Promise.all([...late, ...slow])), await collectErrors(others));
  expect(wrong.flat()).toEqual([]);
});

test("a connection that is paused while others are served gets its own bytes", async () => {
  const { stream, sent, read } = pausedConnection(url);
  // The window lets the server send everything although nothing is read.
  const session = sessionTo(url, { createConnection: () => stream, settings: { initialWindowSize: LARGEST_WINDOW } });
  await within(WAIT_MS, "the session connects", once(session, "connect"));
  session.setLocalWindowSize(LARGEST_WINDOW);
  const late = overflowRequests(...forms).map((request) => readAndCheck(session, "fast", request));
  await until("the server waits for the client", async () => {
    const before = sent();
    await pause(50);
    return before > 1_000 * KB && sent() === before;
  });
  const wrong: string[][] = [];
  for (let round = 0; round < 3; round++)
    wrong.push(await collectErrors(startClients(url, 4, "fast", () => createRequests(5))));
  read();
  wrong.push(...(await Promise.all(late)));
  expect(wrong.flat()).toEqual([]);
});
