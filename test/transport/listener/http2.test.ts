/** What one HTTP/2 connection may have under way and cancel, and what becomes of connections that break the rules. */
import http2 from "node:http2";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { transferFactory } from "../../fixtures/requests.js";
import {
  asking,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  PREFACE,
  settings,
  Type,
  word,
} from "../../fixtures/frames.js";
import { askHttp2, expectAlive } from "../../fixtures/plain-requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { nothingLeft } from "../../fixtures/server-ends.js";
import { until, within } from "../../fixtures/wait.js";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;
const STREAMS = 4;
const RESETS = 20;
const HEADERS = 8_192;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, {
    config: { maxStreams: STREAMS, maxResets: RESETS, maxHeaderBytes: HEADERS, maxPathBytes: 65_536 },
  });
});
afterAll(() => running.close());

const json = { "content-type": "application/json" };
/** A request of which the body is still to come. */
const open = (id: number): Buffer => frame(Type.headers, END_HEADERS, id, asking(transferFactory(), json));
const live = (id: number): Buffer =>
  frame(Type.headers, END_HEADERS | END_STREAM, id, asking("/livez", { ":method": "GET" }));
const cancelled = (id: number): Buffer => Buffer.concat([open(id), frame(Type.reset, 0, id, word(NGHTTP2_CANCEL))]);
const ids = (count: number, first = 0): number[] => Array.from({ length: count }, (_, at) => 2 * (first + at) + 1);

function sessionTo(url: string): http2.ClientHttp2Session {
  const session = http2.connect(url).on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

describe("streams", () => {
  test("as many as the setting says are served at a time, and those beyond are refused", async () => {
    const connection = await FrameConnection.to(running.url, false);
    // As long as it does not say that it knows the limit, it may not know.
    connection.acknowledges = false;
    connection.send(PREFACE, settings(), ...ids(STREAMS + 2).map(open));
    const beyond = ids(2, STREAMS);
    await until("two are refused", () => beyond.every((id) => connection.codeOf(Type.reset, id) !== undefined));
    expect(beyond.map((id) => connection.codeOf(Type.reset, id))).toEqual([
      NGHTTP2_REFUSED_STREAM,
      NGHTTP2_REFUSED_STREAM,
    ]);
    connection.send(...ids(STREAMS).map((id) => frame(Type.data, END_STREAM, id, "{}")));
    for (const id of ids(STREAMS)) {
      await connection.over(id);
      expect(connection.textOf(id)).toContain("choiceArguments");
    }
    const next = 2 * STREAMS + 5;
    connection.send(live(next));
    await connection.over(next);
    expect(connection.textOf(next)).toBe('{"status":"ok"}');
    connection.destroy();
    await nothingLeft(running.url, connection.port);
  });

  test("whoever knows the limit and breaks it loses the connection alone", async () => {
    const connection = await FrameConnection.to(running.url);
    await until("it knows", () => connection.of(Type.settings).length === 2);
    connection.send(...ids(STREAMS + 1).map(open));
    await connection.ended();
    await nothingLeft(running.url, connection.port);
    await expectAlive(running.url);
  });

  test("a client that keeps to it asks for as much as it likes", async () => {
    const session = sessionTo(running.url);
    await once(session, "remoteSettings");
    const told = await Promise.all(
      Array.from({ length: 10 * STREAMS }, () => askHttp2(session, "/livez", { ":method": "GET" })),
    );
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("cancelled requests", () => {
  test("one more than the setting says ends the connection, and no other", async () => {
    const other = sessionTo(running.url);
    await askHttp2(other, "/livez", { ":method": "GET" });
    const connection = await FrameConnection.to(running.url);
    for (const id of ids(RESETS)) {
      // One behind the other: those that would be too many at a time are refused, which costs nothing.
      connection.send(cancelled(id), frame(Type.ping, 0, 0, Buffer.alloc(8)));
      await until("it has been read", () => connection.of(Type.ping).length > (id - 1) / 2 || connection.hasEnded);
    }
    connection.send(live(2 * RESETS + 1));
    await connection.over(2 * RESETS + 1);
    expect(connection.hasEnded).toBe(false);
    // The very first, which comes with the beginning of a session, may have been missed.
    connection.send(cancelled(2 * RESETS + 3), cancelled(2 * RESETS + 5));
    await connection.ended();
    expect(connection.codeOf(Type.goaway)).toBe(NGHTTP2_ENHANCE_YOUR_CALM);
    await nothingLeft(running.url, connection.port);
    expect(await askHttp2(other, "/livez", { ":method": "GET" })).toMatchObject({ status: 200 });
    await expectAlive(running.url);
  });

  test("a few are what an ordinary client does", async () => {
    const session = sessionTo(running.url);
    for (let round = 0; round < 5; round++) {
      const stream = session.request({ ":method": "POST", ":path": transferFactory(), ...json }, { endStream: false });
      stream.on("error", () => {}).write("{");
      await pause(5);
      stream.close(NGHTTP2_CANCEL);
    }
    expect(await askHttp2(session, "/livez", { ":method": "GET" })).toMatchObject({ status: 200 });
  });

  test("also those that are whole come to an end", async () => {
    const connection = await FrameConnection.to(running.url);
    const isRefused = () => connection.hasEnded || connection.codeOf(Type.goaway) !== undefined;
    for (let first = 0; first < 5_000 && !isRefused(); first += 100) {
      for (const id of ids(100, first)) connection.send(live(id), frame(Type.reset, 0, id, word(NGHTTP2_CANCEL)));
      await pause(1);
    }
    await until("no more are taken", isRefused);
    await expectAlive(running.url);
  });
});

test("HEAD with a body is over when it has been answered", async () => {
  const session = sessionTo(running.url);
  const stream = session.request({ ":path": "/livez", ":method": "HEAD" }, { endStream: false });
  // More than may be sent before the other end has read of it.
  stream.end(Buffer.alloc(200_000));
  stream.resume();
  const [[headers]] = await within(5_000, "it is over", Promise.all([once(stream, "response"), once(stream, "close")]));
  expect(headers[":status"]).toBe(200);
  expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
});

test("a call of gRPC with more than one message, and more than may be sent unread, is over when it has been answered", async () => {
  const session = sessionTo(running.url);
  const path = "/offledger.health.v1.HealthService/GetLiveness";
  const headers = { ":path": path, ":method": "POST", "content-type": "application/grpc+json", te: "trailers" };
  const stream = session.request(headers);
  const message = Buffer.from(`\0\0\0\0\x02{}`, "latin1");
  stream.end(Buffer.concat(Array.from({ length: 100_000 }, () => message)));
  stream.resume();
  const over = Promise.all([once(stream, "trailers"), once(stream, "close")]);
  const [[trailers]] = await within(5_000, "it is over", over);
  expect(trailers["grpc-status"]).toBe("12");
  expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
});

describe("a head that is too large", () => {
  test("is answered 431 where the caller has not said that it knows the limit, and the connection goes on", async () => {
    const connection = await FrameConnection.to(running.url, false);
    connection.acknowledges = false;
    const large = { ...json, large: "a".repeat(HEADERS) };
    connection.send(PREFACE, settings(), frame(Type.headers, END_HEADERS | END_STREAM, 1, asking("/livez", large)));
    await connection.over(1);
    const error = `request header exceeds ${HEADERS} bytes`;
    expect(connection.textOf(1)).toBe(JSON.stringify({ error }));
    connection.send(
      frame(
        Type.headers,
        END_HEADERS | END_STREAM,
        3,
        asking("/livez", { ":method": "GET", large: "a".repeat(HEADERS - 200) }),
      ),
    );
    await connection.over(3);
    expect(connection.textOf(3)).toBe('{"status":"ok"}');
  });

  test("is reset where it has, and the connection goes on", async () => {
    const connection = await FrameConnection.to(running.url);
    await until("it knows", () => connection.of(Type.settings).length === 2);
    connection.send(
      frame(Type.headers, END_HEADERS | END_STREAM, 1, asking("/livez", { large: "a".repeat(HEADERS) })),
      live(3),
    );
    await connection.over(3);
    expect(connection.codeOf(Type.reset, 1)).toBe(NGHTTP2_ENHANCE_YOUR_CALM);
    expect(connection.textOf(3)).toBe('{"status":"ok"}');
  });
});

/** A few bytes of a block of headers. */
const PIECE = Buffer.from("\0\x01a\x01b");

describe("a flood", () => {
  test.each<[string, boolean, (connection: FrameConnection, round: number) => void]>([
    ["of continuations", true, (connection) => connection.send(frame(Type.continuation, 0, 1, PIECE))],
    ["of pings", false, (connection) => connection.send(frame(Type.ping, 0, 0, Buffer.alloc(8)))],
    ["of settings", false, (connection) => connection.send(settings())],
    ["of data behind the end", true, (connection) => connection.send(frame(Type.data, 0, 1, " "))],
    [
      "of updates of the window",
      true,
      (connection) => connection.send(frame(Type.windowUpdate, 0, 0, word(0x7fff_ffff))),
    ],
  ])("%s harms nobody else", async (what, ends, send) => {
    const connection = await FrameConnection.to(running.url);
    await until("it knows", () => connection.of(Type.settings).length === 2);
    if (what === "of continuations") connection.send(frame(Type.headers, END_STREAM, 1, asking("/livez")));
    if (what === "of data behind the end") connection.send(live(1));
    for (let round = 0; round < 20_000 && !connection.hasEnded; round++) {
      send(connection, round);
      if (round % 500 === 0) await pause(1);
    }
    // What breaks the rules is told so, and nothing of it is looked at any more.
    if (ends) {
      await until("it is told", () => connection.hasEnded || connection.codeOf(Type.goaway) !== undefined);
    }
    await expectAlive(running.url);
  });
});
