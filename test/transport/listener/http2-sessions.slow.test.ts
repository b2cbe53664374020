/** Timeouts of HTTP/2 sessions. */
import http2 from "node:http2";
import type http from "node:http";
import net from "node:net";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBudgets } from "../../../src/transport/admission/budgets.js";
import { Connections } from "../../../src/transport/listener/connections.js";
import { Http2Sessions } from "../../../src/transport/listener/http2-sessions.js";
import {
  requestHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  PREFACE,
  settings,
  Type,
  word,
} from "../../fixtures/http2-frames.js";
import { serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

/** More than the kernel holds for a client that does not read. */
const HUGE_BYTES = 50_000_000;

const handler = (request: http.IncomingMessage, response: http.ServerResponse): void => {
  if (request.url === "/large") response.end("a".repeat(1_000_000));
  if (request.url === "/huge") response.end(Buffer.alloc(HUGE_BYTES));
  if (request.url === "/small") response.end("a");
};

/** Serves sessions with short timeouts. Only /huge, /large and /small get a response. */
async function startServer(idleMs = 1_000, stalledMs = 1_000): Promise<string> {
  const limits = { ...TEST_SERVER_OPTIONS.connections, requestMs: 100 };
  const connections = new Connections(limits, createBudgets(), []);
  const http2Sessions = new Http2Sessions(handler, limits, connections, { idleMs, stalledMs });
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.accept(socket)) http2Sessions.accept(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    http2Sessions.destroy();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

const smallRequest = (id: number): Buffer =>
  frame(Type.headers, END_HEADERS | END_STREAM, id, requestHeaders("/small"));

describe("a session", () => {
  test.each([
    ["that is idle", Buffer.alloc(0)],
    ["that sends only PINGs", frame(Type.ping, 0, 0, Buffer.alloc(8))],
  ])("%s ends, even if the client does not close it", async (_what, bytes) => {
    const url = await startServer();
    const connection = await FrameConnection.to(url);
    const sending = setInterval(() => connection.send(bytes), 50);
    onTestFinished(() => clearInterval(sending));
    await connection.ended();
    await untilDisconnected(url);
    expect(countConnections(url)).toBe(0);
  });

  test("that the client abandons after a protocol error ends within seconds", async () => {
    const url = await startServer(60_000);
    const connection = await FrameConnection.to(url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    // DATA on a stream that is not open.
    connection.send(frame(Type.data, 0, 1, Buffer.from("x")));
    await until("GOAWAY is received", () => connection.codeOf(Type.goaway) !== undefined);
    connection.destroy();
    await untilDisconnected(url);
    expect(countConnections(url)).toBe(0);
  });

  test("that begins with a protocol error ends at once, also among many sessions", async () => {
    const url = await startServer(60_000);
    // Two checks of a session are half a second apart when there are so many, except for new ones.
    await Promise.all(Array.from({ length: 100 }, () => FrameConnection.to(url)));
    const times: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      const connection = await FrameConnection.to(url);
      connection.send(frame(Type.data, 0, 1, Buffer.from("x")));
      await until("GOAWAY is received", () => connection.codeOf(Type.goaway) !== undefined);
      const begin = performance.now();
      await connection.ended();
      times.push(performance.now() - begin);
    }
    // A busy machine may delay some of them.
    expect(Math.min(...times)).toBeLessThan(400);
  });

  test("that breaks the protocol in the middle of a response ends within seconds, even if the client stays", async () => {
    const url = await startServer(60_000, 120_000);
    const connection = await FrameConnection.to(url, false);
    // A window of 0: no body may be sent.
    connection.send(PREFACE, settings({ 4: 0 }), smallRequest(1), frame(Type.data, 0, 0, Buffer.from("x")));
    await connection.ended();
    await untilDisconnected(url);
    expect(countConnections(url)).toBe(0);
  });

  test("whose client stops reading for seconds gets the whole response", async () => {
    const url = await startServer(60_000, 120_000);
    const connection = await FrameConnection.to(url, false);
    const window = frame(Type.windowUpdate, 0, 0, word(2 ** 30));
    const request = frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/huge"));
    connection.pause();
    connection.send(PREFACE, settings({ 4: 2 ** 30 }), window, request);
    // A PING is due after 2 seconds, and waits until the client reads.
    await pause(6_000);
    connection.resume();
    await connection.over(1);
    const received = connection.of(Type.data, 1).reduce((sum, { payload }) => sum + payload.length, 0);
    expect(received).toBe(HUGE_BYTES);
  });

  test("answers requests that arrive with the client's GOAWAY", async () => {
    const url = await startServer(60_000);
    const connection = await FrameConnection.to(url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    // If it were refused, the second stream would be freed while it is parsed.
    connection.send(smallRequest(1), frame(Type.goaway, 0, 0, Buffer.alloc(8)), smallRequest(3));
    await connection.over(3);
    expect([connection.textOf(1), connection.textOf(3)]).toEqual(["a", "a"]);
    await connection.ended();
  });

  test("that is idle but answers PINGs stays open", async () => {
    const url = await startServer(60_000);
    const session = http2.connect(url);
    await once(session, "connect");
    await pause(6_000);
    const stream = session.request({ ":path": "/small" });
    stream.resume();
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(200);
    session.close();
  });

  test("whose headers arrive a byte at a time ends", async () => {
    const url = await startServer();
    const connection = await FrameConnection.to(url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    const slowRequest = frame(Type.headers, END_HEADERS, 1, requestHeaders("/livez", { slow: "a".repeat(8_192) }));
    let at = 0;
    const sending = setInterval(() => connection.send(slowRequest.subarray(at, ++at)), 10);
    onTestFinished(() => clearInterval(sending));
    await connection.ended();
    await untilDisconnected(url);
    expect(countConnections(url)).toBe(0);
  });

  test("whose client does not read the responses ends", async () => {
    const url = await startServer();
    const connection = await FrameConnection.to(url, false);
    // A window of 0: no body may be sent.
    connection.send(PREFACE, settings({ 4: 0 }));
    connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/large")));
    connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 3, requestHeaders("/never")));
    // The client does not read the 408 either.
    connection.send(frame(Type.headers, END_HEADERS, 5, requestHeaders("/never")));
    await connection.ended();
    await untilDisconnected(url);
    expect(countConnections(url)).toBe(0);
  });

  test("ends with the service, even if the client does not close it", async () => {
    const other = await serveFile(undefined, { config: { graceSeconds: 1 } });
    const connection = await FrameConnection.to(other.url);
    await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
    await other.close();
    await connection.ended();
    await untilDisconnected(other.url);
    expect(countConnections(other.url)).toBe(0);
  });
});
