/**
 * Requests with too many header fields, which Node.js resets itself: many of them in one read end the connection. Each
 * field is one byte on the wire and 500 to be checked, so that they would delay all other clients.
 */
import { expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/transport/server.js";
import { END_HEADERS, END_STREAM, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const INTERNAL_ERROR = 2;
const ENHANCE_YOUR_CALM = 11;
const FIELDS = 118;
const VALUE_BYTES = 480;
/** In one read of 64 KiB. */
const BATCH = 300;
const BATCHES = 20;
/** RFC 7541: a literal with the name "cookie" of the static table, added to the dynamic one, and its latest entry. */
const INDEXED_COOKIE = 0x60;
const LATEST_ENTRY = 0xbe;

const cookie = Buffer.concat([
  Buffer.from([INDEXED_COOKIE, 127, ((VALUE_BYTES - 127) & 127) | 128, (VALUE_BYTES - 127) >> 7]),
  Buffer.alloc(VALUE_BYTES, "a"),
]);
const head = requestHeaders("/livez");
const repeated = Buffer.concat([head, Buffer.alloc(FIELDS, LATEST_ENTRY)]);

/** Blocks the event loop of the server, which is in this process, as such requests do on a slower machine. */
function delayEventLoop(): void {
  for (const end = performance.now() + 80; performance.now() < end;);
}

const request = (index: number, fields: Buffer): Buffer =>
  frame(Type.headers, END_HEADERS | END_STREAM, 2 * index + 1, fields);

/** A client that has sent one request with the cookie, and so has it in its table. */
async function connectClient(): Promise<FrameConnection> {
  const server = await createServer([], TEST_SERVER_OPTIONS);
  onTestFinished(() => server.close(100));
  const connection = await FrameConnection.to(await server.listen("127.0.0.1", 0));
  // Once acknowledged, the limit on a header would be 16 KiB.
  connection.acknowledges = false;
  connection.send(request(0, Buffer.concat([head, cookie])));
  await connection.over(1);
  return connection;
}

test("many in one read end the connection", async () => {
  const connection = await connectClient();
  for (let batch = 0; batch < BATCHES && !connection.hasEnded; batch++) {
    const first = 1 + batch * BATCH;
    connection.send(...Array.from({ length: BATCH }, (_, at) => request(first + at, repeated)));
    const last = 2 * (first + BATCH - 1) + 1;
    await until("the requests are reset", () => connection.isOver(last) || connection.hasEnded);
    delayEventLoop();
  }
  await connection.ended();
  // Node.js 20 may end it first, when they take too much memory.
  expect([ENHANCE_YOUR_CALM, INTERNAL_ERROR]).toContain(connection.codeOf(Type.goaway));
});

test("a few are reset, and the connection goes on", async () => {
  const connection = await connectClient();
  connection.send(...Array.from({ length: 20 }, (_, at) => request(1 + at, repeated)));
  delayEventLoop();
  connection.send(request(21, head));
  await connection.over(43);
  expect(connection.of(Type.reset)).toHaveLength(20);
  expect(connection.of(Type.headers, 43)).toHaveLength(1);
});
