/** Responses that are written past ServerResponse: Node.js must keep the connection as after its own. */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { endAtOnce } from "../../src/transport/end-at-once.js";
import { endHttp1 } from "../../src/transport/write-body.js";
import { singleChunk } from "../../src/transport/encoding/chunk-list.js";
import { Connection } from "../fixtures/raw-connection.js";
import { until } from "../fixtures/wait.js";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler, options: http.ServerOptions = {}) {
  const server = http.createServer(options, handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const connect = () => Connection.to(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { server, connect };
}

const get = (path: string, ...fields: readonly string[]) =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n`;

const lengthOf = (text: string): string[] => ["content-length", String(text.length)];

/** Answers with the path, at once where that is possible. */
function echo(outcomes: boolean[] = []): Handler {
  return ({ url = "" }, response) => {
    const body = singleChunk(url);
    const isSent = endAtOnce(response, 200, lengthOf(url), body, undefined);
    outcomes.push(isSent);
    if (isSent) return;
    response.writeHead(200, lengthOf(url));
    endHttp1(response, body, undefined);
  };
}

test("the head has the given fields, and those of Node.js", async () => {
  const { connect } = await serve((_request, response) => {
    endAtOnce(response, 200, ["x-a", "1", "content-length", "2", "x-b", "\xe9"], singleChunk("{}"), undefined);
  });
  const client = await connect();
  await client.send(get("/"));
  const [first] = await client.respond(1);
  const [status, ...fields] = first?.headers.split("\r\n") ?? [];
  expect(status).toBe("HTTP/1.1 200 OK");
  const date = fields.find((field) => field.startsWith("Date: "))?.slice(6) ?? "";
  expect(date).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/);
  expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60_000);
  expect(fields.filter((field) => !field.startsWith("Date: "))).toEqual([
    "x-a: 1",
    "content-length: 2",
    "x-b: \xe9",
    "Connection: keep-alive",
    "Keep-Alive: timeout=72",
  ]);
  expect(first?.body).toBe("{}");
});

test("the connection is kept, and each response ends as one of Node.js", async () => {
  const ended: string[] = [];
  const outcomes: boolean[] = [];
  const { connect } = await serve((request, response) => {
    for (const event of ["prefinish", "finish", "close"]) response.on(event, () => ended.push(event));
    echo(outcomes)(request, response);
    ended.push(String(response.headersSent && response.writableEnded));
  });
  const client = await connect();
  for (const path of ["/a", "/b", "/c"]) {
    await client.send(get(path));
    await until(`${path} is answered`, () => client.text.endsWith(path));
  }
  expect((await client.respond(3)).map(({ body }) => body)).toEqual(["/a", "/b", "/c"]);
  await until("the responses are closed", () => ended.length === 12);
  expect(ended.slice(0, 4)).toEqual(["prefinish", "true", "finish", "close"]);
  expect(outcomes).toEqual([true, true, true]);
  expect(client.isClosed).toBe(false);
});

test("a response without a body leaves the connection to the next", async () => {
  const statuses: number[] = [];
  const { connect } = await serve((request, response) => {
    if (request.url === "/same") endAtOnce(response, 304, ["etag", '"1"'], undefined, undefined);
    else echo()(request, response);
    statuses.push(response.statusCode);
  });
  const client = await connect();
  await client.send(get("/same"));
  await client.respond(1);
  await client.send(get("/next"));
  const [first, second] = await client.respond(2);
  expect(first?.headers).toMatch(/^HTTP\/1\.1 304 Not Modified\r\netag: "1"\r\n/);
  expect([first?.body, second?.body]).toEqual(["", "/next"]);
  expect(statuses).toEqual([304, 200]);
});

test.each<[string, string, RegExp]>([
  ["a connection that the client ends", get("/a", "connection: close"), /\r\nConnection: close[^]*\r\n\r\n\/a$/],
  ["a client of HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", /\r\nConnection: close[^]*\r\n\r\n\/a$/],
  ["HEAD", get("/a").replace("GET", "HEAD"), /\r\nConnection: keep-alive[^]*\r\n\r\n$/],
])("%s is left to Node.js", async (_name, request, expected) => {
  const outcomes: boolean[] = [];
  const { connect } = await serve(echo(outcomes));
  const client = await connect();
  await client.send(request);
  await until("the response has arrived", () => expected.test(client.text));
  expect(outcomes).toEqual([false]);
  if (expected.source.includes("close")) await client.closed();
});

test("headers that hooks have set are left to Node.js, which checks them", async () => {
  const outcomes: boolean[] = [];
  const { connect } = await serve((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    echo(outcomes)(request, response);
  });
  const client = await connect();
  await client.send(get("/a"));
  const [first] = await client.respond(1);
  expect(first?.headers).toContain("\r\naccess-control-allow-origin: *\r\n");
  expect(outcomes).toEqual([false]);
});

test("pipelined responses arrive in order", async () => {
  const outcomes: boolean[] = [];
  const held: (() => void)[] = [];
  const { connect } = await serve((request, response) => {
    if (request.url === "/0") held.push(() => echo(outcomes)(request, response));
    else echo(outcomes)(request, response);
    if (request.url === "/3") held.forEach((answer) => answer());
  });
  const client = await connect();
  await client.send(["/0", "/1", "/2", "/3"].map((path) => get(path)).join(""));
  expect((await client.respond(4)).map(({ body }) => body)).toEqual(["/0", "/1", "/2", "/3"]);
  // The first three had no connection yet.
  expect(outcomes).toEqual([false, false, false, true]);
});

test("a response that the client reads late keeps its bytes, and the connection", async () => {
  // A pooled buffer: larger responses have their own.
  const size = 900 * 1024;
  let waiting = 0;
  const { connect } = await serve(({ url = "" }, response) => {
    const { socket } = response;
    endAtOnce(response, 200, ["content-length", String(size)], singleChunk((url[1] ?? "").repeat(size)), undefined);
    waiting = socket?.writableLength ?? 0;
  });
  const slow = await connect();
  slow.pause();
  let sent = 0;
  // Until the kernel takes no more.
  while (waiting === 0 && sent < 50) {
    sent++;
    await slow.send(get("/a"));
    await setImmediate();
  }
  expect(waiting).toBeGreaterThan(0);
  const quick = await connect();
  await quick.send(get("/b"));
  expect((await quick.respond(1))[0]?.body === "b".repeat(size)).toBe(true);
  slow.resume();
  const late = await slow.respond(sent);
  expect(late.every(({ body }) => body === "a".repeat(size))).toBe(true);
  await slow.send(get("/c"));
  expect((await slow.respond(sent + 1)).at(-1)?.body === "c".repeat(size)).toBe(true);
});

test("an idle connection is closed after its time, and with the server", async () => {
  const { server, connect } = await serve(echo(), { keepAliveTimeout: 200 });
  const idle = await connect();
  await idle.send(get("/a"));
  await idle.respond(1);
  await idle.closed();
  server.keepAliveTimeout = 60_000;
  const kept = await connect();
  await kept.send(get("/b"));
  await kept.respond(1);
  await until("the connection counts as idle", () => {
    server.closeIdleConnections();
    return kept.isClosed;
  });
  expect([idle, kept].map(({ responses }) => responses.length)).toEqual([1, 1]);
});
