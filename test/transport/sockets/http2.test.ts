/** Limits on streams, resets and headers of an HTTP/2 connection, and clients that break the protocol. */
import http2 from "node:http2";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { transferFactory } from "../../fixtures/requests.js";
import {
  requestHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  settings,
  Type,
  word,
} from "../../fixtures/http2-frames.js";
import { expectAlive } from "../../fixtures/http-requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { untilDisconnected } from "../../fixtures/server-sockets.js";
import { MAX_WAIT_MS, until, within } from "../../fixtures/wait.js";

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = http2.constants;
const MAX_STREAMS = 4;
const MAX_HEADER = 8_192;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, {
    config: { maxStreams: MAX_STREAMS, maxHeaderBytes: MAX_HEADER, maxPathBytes: 65_536 },
  });
});
afterAll(() => running.close());

const json = { "content-type": "application/json" };
/** A request without its body. */
const open = (id: number): Buffer => frame(Type.headers, END_HEADERS, id, requestHeaders(transferFactory(), json));
const live = (id: number): Buffer =>
  frame(Type.headers, END_HEADERS | END_STREAM, id, requestHeaders("/livez", { ":method": "GET" }));
const ids = (count: number, first = 0): number[] => Array.from({ length: count }, (_, at) => 2 * (first + at) + 1);

function sessionTo(url: string): http2.ClientHttp2Session {
  const session = http2.connect(url).on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

describe("streams", () => {
  test("a client that acknowledged the limit and exceeds it loses only its connection", async () => {
    const connection = await FrameConnection.to(running.url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    connection.send(...ids(MAX_STREAMS + 1).map(open));
    await connection.ended();
    await untilDisconnected(running.url, connection.port);
    await expectAlive(running.url);
  });
});

test("a unary gRPC call with many messages, larger than the flow-control window, ends after the response", async () => {
  const session = sessionTo(running.url);
  const path = "/offledger.health.v1.HealthService/GetLiveness";
  const headers = { ":path": path, ":method": "POST", "content-type": "application/grpc+json", te: "trailers" };
  const stream = session.request(headers);
  const message = Buffer.from(`\0\0\0\0\x02{}`, "latin1");
  stream.end(Buffer.concat(Array.from({ length: 100_000 }, () => message)));
  stream.resume();
  const over = Promise.all([once(stream, "trailers"), once(stream, "close")]);
  const [[status]] = await within(MAX_WAIT_MS, "the stream ends", over);
  expect(status["grpc-status"]).toBe("12");
  expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
});

describe("a header over the limit", () => {
  test("is reset if it has, and the connection stays", async () => {
    const connection = await FrameConnection.to(running.url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    connection.send(
      frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/livez", { large: "a".repeat(MAX_HEADER) })),
      live(3),
    );
    await connection.over(3);
    expect(connection.codeOf(Type.reset, 1)).toBe(NGHTTP2_ENHANCE_YOUR_CALM);
    expect(connection.textOf(3)).toBe('{"status":"ok"}');
  });
});

/** Part of a header block. */
const FRAGMENT = Buffer.from("\0\x01a\x01b");

describe("a flood", () => {
  test.each<[string, boolean, (connection: FrameConnection, round: number) => void]>([
    ["of CONTINUATION", true, (connection) => connection.send(frame(Type.continuation, 0, 1, FRAGMENT))],
    ["of PING", false, (connection) => connection.send(frame(Type.ping, 0, 0, Buffer.alloc(8)))],
    ["of SETTINGS", false, (connection) => connection.send(settings())],
    ["of DATA after END_STREAM", true, (connection) => connection.send(frame(Type.data, 0, 1, " "))],
    ["of WINDOW_UPDATE", true, (connection) => connection.send(frame(Type.windowUpdate, 0, 0, word(0x7fff_ffff)))],
  ])("%s affects no other connection", async (what, ends, send) => {
    const connection = await FrameConnection.to(running.url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    if (what === "of CONTINUATION") connection.send(frame(Type.headers, END_STREAM, 1, requestHeaders("/livez")));
    if (what === "of DATA after END_STREAM") connection.send(live(1));
    for (let round = 0; round < 20_000 && !connection.hasEnded; round++) {
      send(connection, round);
      if (round % 500 === 0) await pause(1);
    }
    // A protocol error is answered with GOAWAY.
    if (ends) {
      await until("GOAWAY is received", () => connection.hasEnded || connection.codeOf(Type.goaway) !== undefined);
    }
    await expectAlive(running.url);
  });
});
