/** HTTP/2 connections that bring many requests in one read: they are read one after another, and not while requests wait. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type BudgetLimits, createBudgets } from "../../../src/transport/admission/budgets.js";
import { countHttp2Requests } from "../../../src/transport/listener/first-bytes.js";
import { Listener } from "../../../src/transport/listener/listener.js";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  FrameConnection,
  PREFACE,
  requestHeaders,
  settings,
  Type,
} from "../../fixtures/http2-frames.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const requests = (path: string, first: number, count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, at) =>
      frame(Type.headers, END_HEADERS | END_STREAM, (first + at) * 2 + 1, requestHeaders(path)),
    ),
  );

/** A server with this handler, and the sockets that it has accepted. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void, limits: BudgetLimits = {}) {
  const listener = new Listener(TEST_SERVER_OPTIONS.connections, createBudgets(limits));
  const server = listener.factory(handler, {});
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    listener.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** Counts turns of the event loop. `atEnd` is called at the end of each, with its number. */
function countTurns(atEnd?: (turn: number) => void): () => number {
  let [turn, isCounting] = [0, true];
  const next = () => {
    atEnd?.(turn);
    turn++;
    if (isCounting) setImmediate(next);
  };
  next();
  onTestFinished(() => void (isCounting = false));
  return () => turn;
}

const answered = (connection: FrameConnection) => connection.of(Type.headers).length;
const refused = (connection: FrameConnection) => connection.of(Type.reset).length;

test("the requests in the first bytes of a connection are counted", () => {
  const bytes = Buffer.concat([PREFACE, settings({ 3: 1 }), requests("/a", 0, 3), frame(Type.data, 0, 1, "HEADERS")]);
  expect(countHttp2Requests(bytes)).toBe(3);
  expect(countHttp2Requests(bytes.subarray(0, 60))).toBe(1);
  expect(countHttp2Requests(PREFACE)).toBe(0);
});

test("connections that begin with many requests are read in turns of their own, and all are answered", async () => {
  const turn = countTurns();
  const turns = new Map<string, number>();
  const { url } = await serve(({ url: path = "" }, response) => {
    if (!turns.has(path)) turns.set(path, turn());
    response.end();
  });
  const connections = await Promise.all(Array.from({ length: 4 }, () => FrameConnection.to(url, false)));
  for (const [at, connection] of connections.entries())
    connection.send(PREFACE, settings(), requests(`/${at}`, 0, 100));
  await until("all are answered", () => connections.every((connection) => answered(connection) === 100));
  const starts = [...turns.values()].toSorted((one, other) => one - other);
  const gaps = starts.slice(1).map((start, at) => start - (starts[at] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3);
});

test("a connection is not read while many of its requests wait", async () => {
  const first = requests("/first", 0, 100);
  const second = requests("/second", 100, 50);
  const read: number[] = [];
  const { url, sockets } = await serve(({ url: path }, response) => {
    if (path === "/first") read.push(sockets[0]?.bytesRead ?? 0);
    // Long enough for one in a turn.
    for (const end = performance.now() + 2; performance.now() < end;);
    response.end();
  });
  const connection = await FrameConnection.to(url);
  await until("the client's settings have arrived", () => connection.of(Type.settings).length > 0);
  connection.send(first);
  await until("the first are handled", () => read.length > 0);
  connection.send(second);
  await until("all are answered", () => answered(connection) === 150);
  expect(read).toHaveLength(100);
  // The client has sent the second ones some 80 turns before.
  expect(read.at(-1)).toBe(read[20]);
  expect(sockets[0]?.bytesRead).toBeGreaterThanOrEqual((read.at(-1) ?? 0) + second.length);
});

test("of many connections of a client that bring many requests at once, one is read in a turn", async () => {
  const turn = countTurns();
  const turns = new Map<string, number>();
  const { url } = await serve(({ url: path = "" }, response) => {
    if (!turns.has(path)) turns.set(path, turn());
    response.end();
  });
  const connections = await Promise.all(Array.from({ length: 4 }, () => FrameConnection.to(url)));
  await until("they are read", () => connections.every((connection) => connection.of(Type.settings).length > 0));
  for (const [at, connection] of connections.entries()) connection.send(requests(`/${at}`, 0, 100));
  await until("all are answered", () => connections.every((connection) => answered(connection) === 100));
  expect(new Set(turns.values()).size).toBe(4);
});

test("of many connections of a client whose requests are refused, one is read in a turn", async () => {
  const count = 4;
  let handled = 0;
  // No request is answered: each connection has as many as it may have once half of the budget is used.
  const { url, sockets } = await serve(() => handled++, { requests: 200 });
  const connections = await Promise.all(Array.from({ length: count }, () => FrameConnection.to(url)));
  for (const connection of connections) connection.send(requests("/", 0, 32));
  await until("they are under way", () => handled === count * 32);
  const readBefore = sockets.map(({ bytesRead }) => bytesRead);
  const turns = new Map<number, number>();
  countTurns((turn) => {
    for (const [at, { bytesRead }] of sockets.entries())
      if (bytesRead > (readBefore[at] ?? 0) && !turns.has(at)) turns.set(at, turn);
  });
  for (const connection of connections) connection.send(requests("/", 32, 10));
  await until("all others are refused", () => connections.every((connection) => refused(connection) === 10));
  expect(handled).toBe(count * 32);
  expect(new Set(turns.values()).size).toBe(count);
});
