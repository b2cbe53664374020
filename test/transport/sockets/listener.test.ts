/** HTTP/1.1 and HTTP/2 on one port, with requests split at any byte; drain and shutdown. */
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { onIssuance } from "../../fixtures/calls/operations.js";
import { END_HEADERS, END_STREAM, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { requestHttp2 } from "../../fixtures/http-requests.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { Connection, connectTo } from "../../fixtures/raw-connection.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { gate, until, within } from "../../fixtures/wait.js";

/** The grace period: far longer than a shutdown that does not wait for it. */
const GRACE_MS = 20_000;
const SOON_MS = 8_000;

const FLAG = { tag: "AV_Bool" as const, value: true };
const pathOf = (id: string): string => onIssuance("burn", "offer", "cancel", id).path;
const responseTo = (id: string) => ({
  status: 200,
  body: JSON.stringify({
    choiceContextData: { values: { [id]: { tag: "AV_Bool", value: true } } },
    disclosedContracts: [],
  }),
});

/** A server that responds with the requested id. Ids that start with "gated" wait for the gate. */
async function startService() {
  const reached: string[] = [];
  const handlerGate = gate();
  const binding = bindPartial(BurnService, {
    getBurnOfferCancelContext: async ({ burnOfferId: id }) => {
      reached.push(id);
      if (id.startsWith("gated")) await handlerGate.opened;
      return { values: [{ name: id, value: FLAG }], disclosed: [] };
    },
  });
  const server: Server = await createServer([binding], TEST_SERVER_OPTIONS);
  const stop = async () => {
    handlerGate.open();
    await server.close(100);
  };
  return { server, url: await server.listen("127.0.0.1", 0), reached, gate: handlerGate, stop };
}
async function startForTest() {
  const service = await startService();
  onTestFinished(service.stop);
  return service;
}

/** An HTTP/1.1 request as text. */
const request = (id: string, ...headers: readonly string[]): string =>
  [`POST ${pathOf(id)} HTTP/1.1`, "Host: localhost", "Content-Length: 0", ...headers, "", ""].join("\r\n");

/** An HTTP/2 session, over `stream` or a new connection. */
function sessionTo(url: string, stream?: Duplex): http2.ClientHttp2Session {
  const session = http2.connect(url, stream === undefined ? {} : { createConnection: () => stream });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
const sendHttp2 = async (session: http2.ClientHttp2Session, id: string) => {
  const { status, body } = await requestHttp2(session, pathOf(id));
  return { status, body };
};

describe("a connection", () => {
  let shared: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    shared = await startService();
  });
  afterAll(() => shared.stop());
  const byteByByte = Array.from({ length: 400 }, () => 1);

  test.each<[string, readonly number[]]>([
    ["in one write", []],
    ["a byte at a time", byteByByte],
    ["in 3 bytes and the rest", [3]],
    ["in 24 bytes and the rest", [24]],
  ])("that sends %s gets a response, over both versions", async (_how, sizes) => {
    const connection = await connectTo(shared.url);
    await connection.send(request("whole"), ...sizes);
    expect(await connection.respond(1)).toMatchObject([responseTo("whole")]);
    const session = sessionTo(shared.url, (await connectTo(shared.url)).stream(...sizes));
    expect(await sendHttp2(session, "second")).toEqual(responseTo("second"));
  });

  test("whose method begins as the HTTP/2 preface does is one of HTTP/1.1", async () => {
    const connection = await connectTo(shared.url);
    await connection.send("PUT /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 1);
    expect(await connection.respond(1)).toMatchObject([{ status: 404 }]);
  });

  test("that expects 100 Continue behind another request gets whole responses in their order", async () => {
    const service = await startForTest();
    const connection = await connectTo(service.url);
    await connection.send(request("gated") + request("next", "Expect: 100-continue"));
    await until("the second request is handled", () => service.reached.includes("next"));
    service.gate.open();
    expect(await connection.respond(2)).toMatchObject([responseTo("gated"), responseTo("next")]);
    const other = await connectTo(service.url);
    await other.send(request("alone", "Expect: 100-continue"));
    expect(await other.respond(2)).toMatchObject([{ status: 100 }, responseTo("alone")]);
  });
});

const malformed = { status: 400, body: JSON.stringify({ error: "malformed HTTP request" }) };
const clientHello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

test.each<[string, string | Buffer, readonly number[], readonly object[]]>([
  ["a word", "garbage\r\n\r\n", [], [malformed]],
  ["a TLS ClientHello", clientHello, [], [malformed]],
  ["a malformed HTTP/2 preface in chunks", "PRx * HTTP/2.0\r\n\r\nSM\r\n\r\n", [1, 1], [malformed]],
  ["what begins as HTTP/2", "PRI * HTTP/2.0\r\n\r\ngarbage and more of it", [], []],
])("%s is no request: 400 or nothing, and only its connection closes", async (_what, bytes, sizes, responses) => {
  const { url, reached, gate: handlerGate } = await startForTest();
  const other = await connectTo(url);
  await other.send(request("gated"));
  await until("the other request is in progress", () => reached.length === 1);
  const stream = sendHttp2(sessionTo(url), "gated-too");
  const connection = await connectTo(url);
  await connection.send(bytes, ...sizes);
  await connection.closed();
  expect(connection.responses).toMatchObject(responses);
  handlerGate.open();
  expect(await other.respond(1)).toMatchObject([responseTo("gated")]);
  expect(await stream).toEqual(responseTo("gated-too"));
});

/** Far sooner than the grace period. */
const expectSoon = (promise: Promise<void>): Promise<void> => within(SOON_MS, "it is closed", promise);

test("drain serves, and closes the connections of HTTP/1.1 after each response", async () => {
  const { server, url } = await startForTest();
  const idle = await connectTo(url);
  await idle.send(request("before"));
  const [before] = await idle.respond(1);
  expect(before?.headers.toLowerCase()).toContain("connection: keep-alive");
  const session = sessionTo(url);
  await sendHttp2(session, "before");
  server.drain();
  for (const connection of [idle, await connectTo(url)]) {
    await connection.send(request("draining"));
    await connection.closed();
    expect(connection.responses.at(-1)).toMatchObject(responseTo("draining"));
    expect(connection.responses.at(-1)?.headers.toLowerCase()).toContain("connection: close");
  }
  expect(await sendHttp2(session, "draining")).toEqual(responseTo("draining"));
  await expectSoon(server.close(GRACE_MS));
});

describe("close", () => {
  test.each(["", "PR"])("does not wait for a connection that has sent %j", async (bytes) => {
    const { server, url } = await startForTest();
    const connection = await connectTo(url);
    await connection.send(bytes);
    await expectSoon(server.close(GRACE_MS));
    await connection.closed();
    expect(connection.text).toBe("");
  });

  test("waits for requests in progress of both versions, and accepts no new connection", async () => {
    const { server, url, reached, gate: handlerGate } = await startForTest();
    const connection = await connectTo(url);
    await connection.send(request("gated", "Connection: close"));
    const session = sessionTo(url);
    const responses = Promise.all([sendHttp2(session, "gated-1"), sendHttp2(session, "gated-2")]);
    await until("the requests are in progress", () => reached.length === 3);
    let closed = false;
    const closing = server.close(GRACE_MS).then(() => void (closed = true));
    const isRefused = () =>
      Connection.to(url).then(
        (another) => (another.end(), false),
        () => true,
      );
    await until("the port is closed", isRefused);
    expect([closed, connection.responses]).toEqual([false, []]);
    handlerGate.open();
    expect(await responses).toEqual([responseTo("gated-1"), responseTo("gated-2")]);
    await expectSoon(closing);
    await connection.closed();
    expect(connection.responses).toMatchObject([responseTo("gated")]);
  });

  /** The last stream that GOAWAY names first: RFC 9113, section 6.8. */
  const ANY_STREAM = 2 ** 31 - 1;
  test("tells each connection of HTTP/2 to go away before it closes it, also those that begin meanwhile", async () => {
    const { server, url, reached, gate: handlerGate } = await startForTest();
    const ask = (connection: FrameConnection): void =>
      connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders(pathOf("late"))));
    const before = await FrameConnection.to(url);
    void sendHttp2(sessionTo(url), "gated");
    await until("a request is in progress", () => reached.length === 1);
    // The pause before sessions and port are closed: on a busy machine it could be over before a request is read.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closing = server.close(GRACE_MS);
    // Those of which nothing has been read by now are idle.
    await until("the first is told", () => before.of(Type.goaway).length > 0);
    const meanwhile = await Promise.all(Array.from({ length: 20 }, () => FrameConnection.to(url)));
    const connections = [before, ...meanwhile];
    for (const connection of connections) ask(connection);
    const isAnswered = (connection: FrameConnection) => connection.textOf(1).includes("late");
    const lastStreams = (connection: FrameConnection) =>
      connection.of(Type.goaway).map(({ payload }) => payload.readUInt32BE(0));
    await until("all are told", () => connections.every((connection) => lastStreams(connection).length > 0));
    await until("requests are answered", () => connections.some(isAnswered));
    expect(connections.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    // Far less than the grace period.
    vi.advanceTimersByTime(GRACE_MS / 10);
    vi.useRealTimers();
    await Promise.all(connections.map((connection) => connection.ended()));
    for (const connection of connections) {
      const [first, ...later] = lastStreams(connection);
      expect(first).toBe(ANY_STREAM);
      // Once it has told a connection without a request, nghttp2 reads no more of it: then a retry must be known to be safe.
      expect(isAnswered(connection) ? 0 : later.at(-1)).toBe(0);
      connection.end();
    }
    handlerGate.open();
    await expectSoon(closing);
  });

  test("aborts after the grace period: a request without a response, a missing body, a stream", async () => {
    const { server, url, reached } = await startForTest();
    const connections = [await connectTo(url), await connectTo(url)];
    await connections[0]?.send(request("gated"));
    await connections[1]?.send(request("body").replace("Content-Length: 0", "Content-Length: 10"));
    const stream = sendHttp2(sessionTo(url), "gated-stream");
    await until("the requests are in progress", () => reached.length === 2);
    await expectSoon(server.close(50));
    for (const connection of connections) {
      await connection.closed();
      expect(connection.responses).toEqual([]);
    }
    expect(await stream).toEqual({ status: undefined, body: "" });
  });
});
