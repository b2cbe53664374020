/** HTTP/1.1 and HTTP/2 on one port, with requests split at any byte, and shutdown. */
import { bindPartial } from "../../fixtures/partial-service.js";
import { once } from "node:events";
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { Connection } from "../../fixtures/raw-connection.js";
import { gate, type Gate, until, within } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

/** The grace period: far longer than a shutdown that does not wait for it. */
const GRACE_MS = 20_000;
const SOON_MS = 3_000;

interface Service {
  readonly server: Server;
  readonly url: string;
  /** Ids of the requests that reached the handler. */
  readonly reached: string[];
  /** Requests to `pathOf("gated…")` wait for this. */
  readonly gate: Gate;
}

const FLAG = { tag: "AV_Bool", value: { kind: { case: "boolValue" as const, value: true } } };

/** Starts a server that responds with the requested id. Ids that start with "gated" wait for the gate. */
async function startService(): Promise<Service> {
  const reached: string[] = [];
  const handlerGate = gate();
  const answer = async (id: string) => {
    reached.push(id);
    if (id.startsWith("gated")) await handlerGate.opened;
    return { choiceContextData: { values: { [id]: FLAG } }, disclosedContracts: [] };
  };
  const bindings = bindPartial(BurnService, {
    getBurnRequestAcceptContext: ({ burnRequestId }) => answer(burnRequestId),
    getBurnOfferCancelContext: ({ burnOfferId }) => answer(burnOfferId),
  });
  const server = await createServer([bindings], TEST_SERVER_OPTIONS);
  const url = await server.listen("127.0.0.1", 0);
  onTestFinishedOrAll(async () => {
    handlerGate.open();
    await server.close(100);
  });
  return { server, url, reached, gate: handlerGate };
}

/** Cleans up after the test, or after the file if called from beforeAll. */
function onTestFinishedOrAll(clean: () => Promise<void>): void {
  try {
    onTestFinished(clean);
  } catch {
    afterAll(clean);
  }
}

const pathOf = (id: string): string => `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`;
const bodyFor = (id: string): string =>
  JSON.stringify({
    choiceContextData: { values: { [id]: { tag: "AV_Bool", value: true } } },
    disclosedContracts: [],
  });
const MALFORMED = JSON.stringify({ error: "malformed HTTP request" });

/** An HTTP/1.1 request as text. */
const request = (id: string, ...headers: readonly string[]): string =>
  [`POST ${pathOf(id)} HTTP/1.1`, "Host: localhost", "Content-Length: 0", ...headers, "", ""].join("\r\n");

async function connect(url: string): Promise<Connection> {
  const connection = await Connection.to(url);
  onTestFinished(() => connection.end());
  return connection;
}

/** An HTTP/2 session, over `stream` or a new connection. */
function sessionTo(url: string, stream?: Duplex): http2.ClientHttp2Session {
  const session = http2.connect(url, stream === undefined ? {} : { createConnection: () => stream });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** Sends a request over HTTP/2. Fails if the stream does. */
async function sendHttp2(session: http2.ClientHttp2Session, id: string): Promise<Answer> {
  const stream = session.request({ ":method": "POST", ":path": pathOf(id) });
  let status: number | undefined;
  stream.on("response", (headers) => {
    status = headers[":status"];
  });
  let body = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  stream.end();
  await within(SOON_MS * 2, `a response for ${id}`, once(stream, "close"));
  return { status, body };
}

describe("a connection", () => {
  let shared: Service;
  beforeAll(async () => {
    shared = await startService();
  });

  const byteByByte = Array.from({ length: 400 }, () => 1);

  test.each<[string, readonly number[]]>([
    ["in one write", []],
    ["a byte at a time", byteByByte],
    ["in POS and T", [3]],
  ])("that sends an HTTP/1.1 request %s gets a response", async (_how, sizes) => {
    const connection = await connect(shared.url);
    await connection.send(request("whole"), ...sizes);
    expect(await connection.respond(1)).toMatchObject([{ status: 200, body: bodyFor("whole") }]);
  });

  test("that expects 100 Continue behind another request gets whole responses in their order", async () => {
    const service = await startService();
    const connection = await connect(service.url);
    await connection.send(request("gated") + request("next", "Expect: 100-continue"));
    await until("the second request is handled", () => service.reached.includes("next"));
    service.gate.open();
    expect(await connection.respond(2)).toMatchObject([
      { status: 200, body: bodyFor("gated") },
      { status: 200, body: bodyFor("next") },
    ]);

    const other = await connect(service.url);
    await other.send(request("alone", "Expect: 100-continue"));
    expect(await other.respond(2)).toMatchObject([{ status: 100 }, { status: 200, body: bodyFor("alone") }]);
  });

  test.each<[string, readonly number[]]>([
    // These start like the HTTP/2 preface.
    ["PUT", [1]],
  ])("that uses the method %s gets 404 (chunks of %j)", async (method, sizes) => {
    const connection = await connect(shared.url);
    await connection.send(`${method} /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`, ...sizes);
    expect(await connection.respond(1)).toMatchObject([{ status: 404 }]);
  });

  test.each<[string, readonly number[]]>([
    ["in one write", []],
    ["a byte at a time", byteByByte],
    ["in PRI and the rest", [3]],
    ["up to its end", [24]],
  ])("that sends the HTTP/2 preface %s gets a response", async (_how, sizes) => {
    const connection = await connect(shared.url);
    const session = sessionTo(shared.url, connection.stream(...sizes));
    expect(await sendHttp2(session, "second")).toEqual({ status: 200, body: bodyFor("second") });
  });
});

describe("input that is not a request", () => {
  const tls = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

  test.each<[string, string | Buffer, readonly number[]]>([
    ["a word", "garbage\r\n\r\n", []],
    ["a TLS ClientHello", tls, []],
    ["a malformed HTTP/2 preface in chunks", "PRx * HTTP/2.0\r\n\r\nSM\r\n\r\n", [1, 1]],
  ])("gets 400 and is disconnected: %s", async (_what, bytes, sizes) => {
    const { url, reached, gate: handlerGate } = await startService();
    const other = await connect(url);
    await other.send(request("gated"));
    await until("the other request is in progress", () => reached.length === 1);
    const session = sessionTo(url);
    const stream = sendHttp2(session, "gated-too");

    const connection = await connect(url);
    await connection.send(bytes, ...sizes);
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 400, body: MALFORMED }]);

    handlerGate.open();
    expect(await other.respond(1)).toMatchObject([{ status: 200, body: bodyFor("gated") }]);
    expect(await stream).toEqual({ status: 200, body: bodyFor("gated-too") });
  });

  test("that looks like HTTP/2 closes only its connection", async () => {
    const { url, reached, gate: handlerGate } = await startService();
    const session = sessionTo(url);
    const stream = sendHttp2(session, "gated");
    await until("the other request is in progress", () => reached.length === 1);
    const connection = await connect(url);
    await connection.send("PRI * HTTP/2.0\r\n\r\ngarbage and more of it");
    await connection.closed();
    handlerGate.open();
    expect(await stream).toEqual({ status: 200, body: bodyFor("gated") });
    expect(await sendHttp2(session, "next")).toEqual({ status: 200, body: bodyFor("next") });
  });

  test.each<[string, string]>([
    ["after its first byte", "P"],
    ["while its request is handled", request("gated-reset")],
  ])("a connection reset %s affects no other", async (_when, bytes) => {
    const { url, reached, gate: handlerGate } = await startService();
    const connection = await connect(url);
    await connection.send(bytes);
    if (bytes.endsWith("\r\n\r\n")) await until("the request is in progress", () => reached.length === 1);
    connection.reset();
    await connection.closed();
    handlerGate.open();
    const other = await connect(url);
    await other.send(request("other"));
    expect(await other.respond(1)).toMatchObject([{ status: 200, body: bodyFor("other") }]);
  });
});

/** Far sooner than the grace period. */
const expectSoon = (what: string, promise: Promise<void>): Promise<void> => within(SOON_MS, what, promise);

describe("drain", () => {
  test("serves, and closes the connections of HTTP/1.1 after each response", async () => {
    const { server, url } = await startService();
    const idle = await connect(url);
    await idle.send(request("before"));
    const [before] = await idle.respond(1);
    expect(before?.headers.toLowerCase()).toContain("connection: keep-alive");
    const session = sessionTo(url);
    await sendHttp2(session, "before");
    server.drain();
    for (const connection of [idle, await connect(url)]) {
      await connection.send(request("draining"));
      await connection.closed();
      const last = connection.responses.at(-1);
      expect(last).toMatchObject({ status: 200, body: bodyFor("draining") });
      expect(last?.headers.toLowerCase()).toContain("connection: close");
    }
    expect(await sendHttp2(session, "draining")).toEqual({ status: 200, body: bodyFor("draining") });
    await expectSoon("closed", server.close(GRACE_MS));
  });
});

describe("close", () => {
  test.each([0, 2])("does not wait for a connection that has sent %i bytes", async (count) => {
    const { server, url } = await startService();
    const connection = await connect(url);
    await connection.send("PR".slice(0, count));
    await expectSoon("closed", server.close(GRACE_MS));
    await connection.closed();
    expect(connection.text).toBe("");
  });

  test("waits for an HTTP/1.1 request in progress and accepts no new connection", async () => {
    const { server, url, reached, gate: handlerGate } = await startService();
    const connection = await connect(url);
    await connection.send(request("gated", "Connection: close"));
    await until("the request is in progress", () => reached.length === 1);
    let closed = false;
    const closing = server.close(GRACE_MS).then(() => {
      closed = true;
    });
    await until("the port is closed", () => isRefused(url));
    expect(closed).toBe(false);
    expect(connection.responses).toEqual([]);
    handlerGate.open();
    await expectSoon("closed", closing);
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 200, body: bodyFor("gated") }]);
  });

  test("waits for HTTP/2 streams in progress", async () => {
    const { server, url, reached, gate: handlerGate } = await startService();
    const session = sessionTo(url);
    const responses = Promise.all([sendHttp2(session, "gated-1"), sendHttp2(session, "gated-2")]);
    await until("the requests are in progress", () => reached.length === 2);
    let closed = false;
    const closing = server.close(GRACE_MS).then(() => {
      closed = true;
    });
    await until("the port is closed", () => isRefused(url));
    expect(closed).toBe(false);
    handlerGate.open();
    expect(await responses).toEqual([
      { status: 200, body: bodyFor("gated-1") },
      { status: 200, body: bodyFor("gated-2") },
    ]);
    await expectSoon("closed", closing);
  });

  test.each<[string, string]>([
    ["a request without a response", request("gated")],
    ["a missing body", request("body").replace("Content-Length: 0", "Content-Length: 10")],
  ])("aborts after the grace period: %s", async (_what, bytes) => {
    const { server, url } = await startService();
    const connection = await connect(url);
    await connection.send(bytes);
    await expectSoon("closed", server.close(50));
    await connection.closed();
    expect(connection.responses).toEqual([]);
  });

  test("aborts an HTTP/2 stream after the grace period", async () => {
    const { server, url, reached } = await startService();
    const session = sessionTo(url);
    const responses = sendHttp2(session, "gated").catch(() => ({ status: undefined, body: "" }));
    await until("the request is in progress", () => reached.length === 1);
    await expectSoon("closed", server.close(50));
    expect(await responses).toEqual({ status: undefined, body: "" });
  });
});

async function isRefused(url: string): Promise<boolean> {
  try {
    const connection = await Connection.to(url);
    connection.end();
    return false;
  } catch {
    return true;
  }
}
