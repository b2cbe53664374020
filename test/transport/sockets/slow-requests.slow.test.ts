/** Clients that send a byte at a time get 408 where a response is possible, and are disconnected in bounded time. */
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { transferFactory } from "../../fixtures/requests.js";
import { requestHttp2, expectAlive } from "../../fixtures/http-requests.js";
import {
  ACK,
  requestHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  PREFACE,
  settings,
  Type,
} from "../../fixtures/http2-frames.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";
import http2 from "node:http2";

/** Far longer than the request timeout of one second, and far shorter than the other timeouts. */
const DEADLINE_MS = 20_000;
const rpc = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const MESSAGE = "request not received within 1 seconds";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { requestSeconds: 1 } });
});
afterAll(() => running.close());

const head = (path: string, ...lines: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, "Host: a", ...lines, "", ""].join("\r\n");
const json = "Content-Type: application/json";

/** Sends `atOnce`, then `rest` repeatedly, a byte at a time, until the connection is closed. */
async function sendSlowly(atOnce: string, rest: string): Promise<{ text: string; port: number | undefined }> {
  const { hostname, port } = new URL(running.url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  const localPort = await new Promise<number | undefined>((resolve) =>
    socket.once("connect", () => resolve(socket.localPort)),
  );
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1"))).on("error", () => {});
  if (atOnce !== "") socket.write(atOnce);

  const deadline = performance.now() + DEADLINE_MS;
  for (let at = 0; !socket.destroyed; at++) {
    if (performance.now() > deadline) throw new Error("the connection is still open");
    socket.write(rest.charAt(at % rest.length));
    await pause(20);
  }
  return { text, port: localPort };
}

// Each test waits for a timeout of its own connection, so they run concurrently.
describe.concurrent("over HTTP/1.1", () => {
  test.each([
    ["the request line", "", head(`${transferFactory()}?${"a".repeat(4_000)}`)],
    ["empty lines before it", "", "\r\n"],
    ["the headers", "POST / HTTP/1.1\r\nX: ", "a"],
    ["the body of a REST operation", head(transferFactory(), json, "Content-Length: 100000"), " "],
    ["a body in chunks", head(transferFactory(), json, "Transfer-Encoding: chunked"), "1\r\n \r\n"],
    ["the body of a Connect call", head(rpc, json, "Content-Length: 100000"), " "],
    ["a compressed body", head(rpc, json, "Content-Encoding: gzip", "Content-Length: 100000"), "\x1f"],
    [
      "the body of a gRPC-Web call",
      `${head(rpc, "Content-Type: application/grpc-web+proto", "Content-Length: 100000")}\0\0\x01`,
      "\0",
    ],
  ])("%s", async (_what, atOnce, rest) => {
    const { text, port } = await sendSlowly(atOnce, rest);
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(text).toContain("Connection: close");
    expect(text).toContain(JSON.stringify({ error: MESSAGE }));
    await untilDisconnected(running.url, port);
    await expectAlive(running.url);
  });

  test("a body for an unknown path: the response comes at once, and the connection is still closed", async () => {
    const { text, port } = await sendSlowly(head("/nothing", json, "Content-Length: 100000"), " ");
    expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    await untilDisconnected(running.url, port);
    await expectAlive(running.url);
  });

  test("the second request of a connection", async () => {
    const { text } = await sendSlowly("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nX: ", "a");
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "408"]);
  });
});

const types = [
  "application/json",
  "application/proto",
  "application/grpc",
  "application/grpc+proto",
  "application/grpc-web+proto",
];
const targets = [transferFactory(), rpc].flatMap((path) => types.map((type) => [path, type] as const));

function sessionTo(url: string): http2.ClientHttp2Session {
  const session = http2.connect(url).on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

describe("over HTTP/2", () => {
  test("a body that never ends gets 408 on every path and protocol, and the connection stays", async () => {
    const session = sessionTo(running.url);
    const slow = targets.flatMap(([path, type]) =>
      // What has arrived is nothing, a complete message, or part of one.
      ["", "{}", "\0\0\0\0\0", "\0\0\0"].map((begun) => {
        const asked = requestHttp2(session, path, { "content-type": type }, null, begun);
        return asked.then(({ status, body, resetCode }) => ({ path, type, begun, status, body, resetCode }));
      }),
    );
    for (const one of await Promise.all(slow)) {
      expect(one).toMatchObject({ status: 408, resetCode: 0 });
      expect(JSON.parse(one.body)).toEqual({ error: MESSAGE });
    }
    expect(await requestHttp2(session, "/livez", { ":method": "GET" })).toMatchObject({ status: 200 });
    await expectAlive(running.url);
  });

  test("a body that never ends on unknown and long-lived paths gets a response too", async () => {
    const session = sessionTo(running.url);
    const paths = ["/nothing", "/grpc.any/Thing", "/livez"];
    const all = paths.flatMap((path) =>
      types.map((type) => requestHttp2(session, path, { "content-type": type }, null)),
    );
    // gRPC's refusal of an unknown operation has status 200; /livez is served by other methods.
    for (const { status, headers } of await Promise.all(all))
      expect([404, 405, 408]).toContain(headers["grpc-status"] === "12" ? 404 : status);
    await expectAlive(running.url);
  });

  test("a body a byte at a time", async () => {
    const connection = await FrameConnection.to(running.url);
    connection.send(
      frame(Type.headers, END_HEADERS, 1, requestHeaders(transferFactory(), { "content-type": "application/json" })),
    );
    const sending = setInterval(() => connection.send(frame(Type.data, 0, 1, " ")), 20);
    onTestFinished(() => clearInterval(sending));
    await connection.over(1);
    expect(connection.textOf(1)).toBe(JSON.stringify({ error: MESSAGE }));
    clearInterval(sending);
    connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 3, requestHeaders("/livez", { ":method": "GET" })));
    await connection.over(3);
    expect(connection.textOf(3)).toBe('{"status":"ok"}');
  });

  test("a complete request does not time out, even if its response is read late", async () => {
    const session = sessionTo(running.url);
    // The response waits in the flow-control window past the request timeout.
    const stream = session.request({ ":path": "/livez" });
    await pause(2_500);
    stream.setEncoding("utf8");
    let body = "";
    for await (const chunk of stream) body += String(chunk);
    expect(body).toBe('{"status":"ok"}');
  });

  test("a body reset with NO_ERROR is not a request and has no effect", async () => {
    const connection = await FrameConnection.to(running.url);
    const code = Buffer.alloc(4);
    for (const [at, [path, type]] of targets.entries()) {
      const id = 2 * at + 1;
      connection.send(frame(Type.headers, END_HEADERS, id, requestHeaders(path, { "content-type": type })));
      connection.send(frame(Type.data, 0, id, "\0\0"));
      await pause(10);
      connection.send(frame(Type.reset, 0, id, code));
    }
    const last = 2 * targets.length + 1;
    connection.send(
      frame(Type.headers, END_HEADERS | END_STREAM, last, requestHeaders("/livez", { ":method": "GET" })),
    );
    await connection.over(last);
    expect(connection.textOf(last)).toBe('{"status":"ok"}');
    await expectAlive(running.url);
  });
});

describe("a client that disconnects", () => {
  const half = requestHeaders(transferFactory());
  test.each([
    ["in the preface", PREFACE.subarray(0, 9)],
    ["after the preface", PREFACE],
    ["after the settings", Buffer.concat([PREFACE, settings(), frame(Type.settings, ACK, 0)])],
    ["in a frame", Buffer.concat([PREFACE, settings(), frame(Type.headers, END_HEADERS, 1, half).subarray(0, 20)])],
    ["in a header block", Buffer.concat([PREFACE, settings(), frame(Type.headers, 0, 1, half)])],
    ["in a body", Buffer.concat([PREFACE, settings(), frame(Type.headers, END_HEADERS, 1, half)])],
  ])("%s leaves no connection", async (_where, bytes) => {
    const connection = await FrameConnection.to(running.url, false);
    // No other frame may interrupt a header block.
    connection.acknowledges = false;
    connection.send(bytes);
    await pause(50);
    connection.end();
    await untilDisconnected(running.url, connection.port);
    await until("the client sees the end", () => connection.hasEnded);
    await expectAlive(running.url);
  });
});
