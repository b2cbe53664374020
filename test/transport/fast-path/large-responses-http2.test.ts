/** Large answers over HTTP/2, for callers who read as they like, or not at all for a while: each gets its own. */
import { once } from "node:events";
import http2 from "node:http2";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Server } from "../../../src/transport/server.js";
import { type Asked, requestFor, wrongBody } from "../../fixtures/large-responses.js";
import {
  clients,
  held,
  type Pace,
  questions,
  serve,
  SOON_MS,
  TOO_MUCH,
  tooMuch,
  unread,
  wrongOf,
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

/** What is wrong with what comes on a stream until it is closed. Nothing is read of it before it may be. */
async function wrongBy(session: http2.ClientHttp2Session, pace: Pace, asked: Asked, mayRead?: Promise<void>) {
  const { method, path, type, body } = requestFor(asked);
  const stream = session.request({ ":method": method, ":path": path, "content-type": type, te: "trailers" });
  stream.end(body);
  const chunks: Buffer[] = [];
  const closed = once(stream, "close");
  await mayRead;
  let left = 100 * KB;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    left -= chunk.length;
    if (pace === "cut" && left < 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    if (pace !== "slow") return;
    stream.pause();
    setTimeout(() => stream.resume(), 1);
  });
  await within(SOON_MS, "the end of a stream", closed);
  return wrongBody(asked, Buffer.concat(chunks), pace === "cut");
}

function sessionTo(to: string, options: http2.SecureClientSessionOptions = {}): http2.ClientHttp2Session {
  const session = http2.connect(to, options);
  onTestFinished(() => session.destroy());
  return session.on("error", () => {});
}

test("streams that are read at once, slowly, late, or reset in the middle have their own", async () => {
  const sessions = Array.from({ length: 3 }, () => sessionTo(url));
  const start = (pace: Pace, much: number, mayRead?: Promise<void>): Promise<string[]>[] =>
    sessions.flatMap((session) => questions(much, forms).map((asked) => wrongBy(session, pace, asked, mayRead)));
  const reading = gate();
  const others = await held(url, 1);
  const [late, slow] = [start("held", 4, reading.opened), start("slow", 4)];
  const wrong: string[][] = [];
  for (let round = 0; round < 3; round++) {
    // Over HTTP/1.1 memory is used again, and gRPC copies what it has in such.
    const fast = clients(url, 2, "fast", () => questions(5));
    wrong.push(...(await Promise.all([...start("fast", 4), ...start("cut", 3)])), await wrongOf(fast));
  }
  reading.open();
  for (const client of others) client.read();
  wrong.push(...(await Promise.all([...late, ...slow])), await wrongOf(others));
  expect(wrong.flat()).toEqual([]);
});

test("a connection of which nothing is read until others have been served has its own", async () => {
  const { stream, sent, read } = unread(url);
  // All that is asked for may be sent, however little of it is read.
  const session = sessionTo(url, { createConnection: () => stream, settings: { initialWindowSize: LARGEST_WINDOW } });
  await within(SOON_MS, "the session", once(session, "connect"));
  session.setLocalWindowSize(LARGEST_WINDOW);
  const late = tooMuch(...forms).map((asked) => wrongBy(session, "fast", asked));
  await until("the server has handed on all of it", () => sent() > TOO_MUCH);
  const wrong: string[][] = [];
  for (let round = 0; round < 3; round++) wrong.push(await wrongOf(clients(url, 4, "fast", () => questions(5))));
  read();
  wrong.push(...(await Promise.all(late)));
  expect(wrong.flat()).toEqual([]);
});
