/** One port for HTTP/1.1 and HTTP/2, on real connections, byte by byte where it matters. */
import { offerSome } from "../../fixtures/offering.js";
import { once } from "node:events";
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { Connection } from "../../fixtures/sockets.js";
import { gate, type Gate, until, within } from "../../fixtures/wait.js";

/** Far longer than any close that is not held up; short enough to see one that is. */
const GRACE_MS = 20_000;
const SOON_MS = 3_000;

interface Serving {
  readonly server: Server;
  readonly url: string;
  /** Ids of the requests that have reached the handler. */
  readonly reached: string[];
  /** What the requests to `pathOf("gated…")` wait for. */
  readonly gate: Gate;
}

/** A server whose answers hold the id that was asked for. Those to ids that begin with "gated" wait for the gate. */
async function serving(): Promise<Serving> {
  const reached: string[] = [];
  const waiting = gate();
  const answer = async (id: string) => {
    reached.push(id);
    if (id.startsWith("gated")) await waiting.opened;
    return { choiceContextData: { id }, disclosedContracts: [] };
  };
  const bindings = offerSome(BurnService, {
    getBurnRequestAcceptContext: ({ burnRequestId }) => answer(burnRequestId),
    getBurnOfferCancelContext: ({ burnOfferId }) => answer(burnOfferId),
  });
  const server = await createServer([bindings], { logLevel: "silent", openApi: {} });
  const url = await server.listen("127.0.0.1", 0);
  onTestFinishedOrAll(async () => {
    waiting.open();
    await server.close(100);
  });
  return { server, url, reached, gate: waiting };
}

/** Cleans up behind the test, or behind the file where it is used before all tests. */
function onTestFinishedOrAll(clean: () => Promise<void>): void {
  try {
    onTestFinished(clean);
  } catch {
    afterAll(clean);
  }
}

const pathOf = (id: string): string => `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`;
const answerTo = (id: string): string => JSON.stringify({ choiceContextData: { id }, disclosedContracts: [] });
const refusal = JSON.stringify({ error: "malformed HTTP request" });

/** An HTTP/1.1 request as it stands on the wire. */
const request = (id: string, ...headers: readonly string[]): string =>
  [`POST ${pathOf(id)} HTTP/1.1`, "Host: localhost", "Content-Length: 0", ...headers, "", ""].join("\r\n");

async function connect(url: string): Promise<Connection> {
  const connection = await Connection.to(url);
  onTestFinished(() => connection.end());
  return connection;
}

/** An HTTP/2 session, over the stream given or over one of its own. */
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

/** Asks by HTTP/2. Fails where the stream does. */
async function ask(session: http2.ClientHttp2Session, id: string): Promise<Answer> {
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
  await within(SOON_MS * 2, `an answer to ${id}`, once(stream, "close"));
  return { status, body };
}

describe("a connection", () => {
  let shared: Serving;
  beforeAll(async () => {
    shared = await serving();
  });

  const aByteAtATime = Array.from({ length: 400 }, () => 1);

  test.each<[string, readonly number[]]>([
    ["in one write", []],
    ["a byte at a time", aByteAtATime],
    ["in P and OST", [1]],
    ["in P, OST and the rest", [1, 3]],
    ["in PO and ST", [2]],
    ["in POS and T", [3]],
    ["up to the end of its headers and the last byte", [request("whole").length - 1]],
  ])("that sends an HTTP/1.1 request %s is answered", async (_how, sizes) => {
    const connection = await connect(shared.url);
    await connection.send(request("whole"), ...sizes);
    expect(await connection.respond(1)).toMatchObject([{ status: 200, body: answerTo("whole") }]);
  });

  test.each<[string, readonly number[]]>([
    ["GET", []],
    ["GET", [1]],
    // These begin as the preface of HTTP/2 does.
    ["PUT", [1]],
    ["PROPFIND", []],
    ["PROPFIND", [1, 1]],
  ])("that uses the method %s is told that nothing is there (pieces of %j)", async (method, sizes) => {
    const connection = await connect(shared.url);
    await connection.send(`${method} /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`, ...sizes);
    expect(await connection.respond(1)).toMatchObject([{ status: 404 }]);
  });

  test("may send a body in pieces", async () => {
    const connection = await connect(shared.url);
    const body = JSON.stringify({ unknown: "x".repeat(2_000) });
    const head = request("body").replace("Content-Length: 0", `Content-Length: ${body.length}`);
    await connection.send(
      head.replace("\r\n\r\n", "\r\nContent-Type: application/json\r\n\r\n") + body,
      2,
      300,
      1,
      900,
    );
    expect(await connection.respond(1)).toMatchObject([{ status: 200, body: answerTo("body") }]);
  });

  test.each<[string, readonly number[]]>([
    ["in one write", []],
    ["a byte at a time", aByteAtATime],
    ["in P and RI", [1]],
    ["in PR and I", [2]],
    ["in PRI and the rest", [3]],
    ["in PRI and a space and the rest", [4]],
    ["up to its second line", [18]],
    ["up to its end", [24]],
  ])("that sends the preface of HTTP/2 %s is answered", async (_how, sizes) => {
    const connection = await connect(shared.url);
    const session = sessionTo(shared.url, connection.stream(...sizes));
    expect(await ask(session, "second")).toEqual({ status: 200, body: answerTo("second") });
  });

  test("is kept, and answers one HTTP/1.1 request after the other", async () => {
    const connection = await connect(shared.url);
    for (const [index, id] of ["a", "b", "c"].entries()) {
      await connection.send(request(id), 1);
      expect((await connection.respond(index + 1))[index]).toMatchObject({ status: 200, body: answerTo(id) });
      expect(connection.isClosed).toBe(false);
    }
  });

  test("may send many HTTP/1.1 requests at once, and gets the answers in their order", async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `pipelined-${index}`);
    const connection = await connect(shared.url);
    await connection.send(ids.map((id) => request(id)).join(""));
    const answers = await connection.respond(ids.length);
    expect(answers.map(({ body }) => body)).toEqual(ids.map(answerTo));
  });

  test("may send the next request before the first is answered", async () => {
    const { url, reached, gate: waiting } = await serving();
    const connection = await connect(url);
    await connection.send(request("gated-first"), 1);
    await until("the first has reached the handler", () => reached.includes("gated-first"));
    await connection.send(request("second"));
    expect(connection.responses).toEqual([]);
    waiting.open();
    const answers = await connection.respond(2);
    expect(answers.map(({ body }) => body)).toEqual([answerTo("gated-first"), answerTo("second")]);
  });

  test("is closed behind an answer where the request says so", async () => {
    const connection = await connect(shared.url);
    await connection.send(request("last", "Connection: close"));
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 200, body: answerTo("last") }]);
  });

  test("carries many HTTP/2 streams at the same time, each with its own answer", async () => {
    const { url, reached, gate: waiting } = await serving();
    const session = sessionTo(url);
    const ids = Array.from({ length: 50 }, (_, index) => `gated-${index}`);
    const asked = Promise.all(ids.map((id) => ask(session, id)));
    await until("all of them are under way", () => reached.length === ids.length);
    waiting.open();
    expect(await asked).toEqual(ids.map((id) => ({ status: 200, body: answerTo(id) })));
  });

  test("is not mistaken for another, however many of both kinds there are", async () => {
    const asked = Array.from({ length: 40 }, async (_, index) => {
      const id = `both-${index}`;
      const connection = await connect(shared.url);
      if (index % 2 === 0) {
        const stream = connection.stream(...(index % 4 === 0 ? [] : [2]));
        return { id, body: (await ask(sessionTo(shared.url, stream), id)).body };
      }
      await connection.send(request(id), 1);
      const [answer] = await connection.respond(1);
      return { id, body: answer?.body };
    });
    for (const { id, body } of await Promise.all(asked)) expect(body).toBe(answerTo(id));
  });
});

describe("what is no request", () => {
  const tls = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

  test.each<[string, string | Buffer, readonly number[]]>([
    ["a word", "garbage\r\n\r\n", []],
    ["a word in pieces", "GARBAGE\r\n\r\n", [1, 1, 1]],
    ["the beginning of TLS", tls, []],
    ["zeros", Buffer.alloc(64), []],
    ["bytes that no text has", Buffer.alloc(64, 0xff), []],
    ["what begins as the preface of HTTP/2", "PRx * HTTP/2.0\r\n\r\nSM\r\n\r\n", []],
    ["what begins as it in pieces", "PRx * HTTP/2.0\r\n\r\nSM\r\n\r\n", [1, 1]],
    ["a path that is none", "POST nowhere HTTP/1.1\r\nHost: a\r\n\r\n", []],
    ["a version that is none", "POST / HTTP/7.7\r\nHost: a\r\n\r\n", []],
    ["a header that is none", "POST / HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n", []],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", []],
  ])("is answered with 400 and closed: %s", async (_what, bytes, sizes) => {
    const { url, reached, gate: waiting } = await serving();
    const other = await connect(url);
    await other.send(request("gated"));
    await until("the other request is under way", () => reached.length === 1);
    const session = sessionTo(url);
    const stream = ask(session, "gated-too");

    const connection = await connect(url);
    await connection.send(bytes, ...sizes);
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 400, body: refusal }]);

    waiting.open();
    expect(await other.respond(1)).toMatchObject([{ status: 200, body: answerTo("gated") }]);
    expect(await stream).toEqual({ status: 200, body: answerTo("gated-too") });
  });

  test("is answered with 431 where headers do not end", async () => {
    const { url } = await serving();
    const connection = await connect(url);
    await connection.send(request("long", `X: ${"x".repeat(100_000)}`));
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 431 }]);
  });

  test.each<[string, string | Buffer]>([
    ["garbage behind the first line of the preface", "PRI * HTTP/2.0\r\n\r\ngarbage and more of it"],
    [
      "garbage behind the preface",
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.alloc(64, 0xff)]),
    ],
  ])("is closed where it passes for HTTP/2, and nobody else is disturbed: %s", async (_what, bytes) => {
    const { url, reached, gate: waiting } = await serving();
    const session = sessionTo(url);
    const stream = ask(session, "gated");
    await until("the other request is under way", () => reached.length === 1);
    const connection = await connect(url);
    await connection.send(bytes);
    await connection.closed();
    waiting.open();
    expect(await stream).toEqual({ status: 200, body: answerTo("gated") });
    expect(await ask(session, "next")).toEqual({ status: 200, body: answerTo("next") });
  });

  test.each<[string, string]>([
    ["before it said anything", ""],
    ["behind its first byte", "P"],
    ["in the middle of a request", "POST /api"],
    ["while its request is answered", request("gated-reset")],
    ["in the middle of the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM"],
  ])("a connection that is reset %s disturbs nobody", async (_when, bytes) => {
    const { url, reached, gate: waiting } = await serving();
    const connection = await connect(url);
    await connection.send(bytes);
    if (bytes.endsWith("\r\n\r\n")) await until("the request is under way", () => reached.length === 1);
    connection.reset();
    await connection.closed();
    waiting.open();
    const other = await connect(url);
    await other.send(request("other"));
    expect(await other.respond(1)).toMatchObject([{ status: 200, body: answerTo("other") }]);
  });
});

/** Far sooner than the time that requests under way have. */
const expectSoon = (what: string, promise: Promise<void>): Promise<void> => within(SOON_MS, what, promise);

describe("close", () => {
  test.each<[string, string]>([
    ["is silent", ""],
    ["has said one byte", "P"],
    ["has said two bytes", "PR"],
  ])("does not wait for a connection that %s", async (_what, bytes) => {
    const { server, url } = await serving();
    const connection = await connect(url);
    await connection.send(bytes);
    await expectSoon("closed", server.close(GRACE_MS));
    await connection.closed();
    expect(connection.text).toBe("");
  });

  test("does not wait for HTTP/1.1 connections that are kept and idle", async () => {
    const { server, url } = await serving();
    const connections = await Promise.all(Array.from({ length: 5 }, () => connect(url)));
    for (const connection of connections) {
      await connection.send(request("idle"));
      await connection.respond(1);
    }
    await expectSoon("closed", server.close(GRACE_MS));
    for (const connection of connections) await connection.closed();
  });

  test("does not wait for HTTP/2 sessions that are idle", async () => {
    const { server, url } = await serving();
    const used = sessionTo(url);
    await ask(used, "idle");
    const unused = sessionTo(url);
    await once(unused, "remoteSettings");
    await expectSoon("closed", server.close(GRACE_MS));
    await until("the sessions are closed", () => used.closed && unused.closed);
  });

  test("does not wait where nobody is connected", async () => {
    const { server } = await serving();
    await expectSoon("closed", server.close(GRACE_MS));
  });

  test("waits for an HTTP/1.1 request under way, and takes no new connection meanwhile", async () => {
    const { server, url, reached, gate: waiting } = await serving();
    const connection = await connect(url);
    await connection.send(request("gated", "Connection: close"));
    await until("the request is under way", () => reached.length === 1);
    let closed = false;
    const closing = server.close(GRACE_MS).then(() => {
      closed = true;
    });
    await until("nobody listens any more", () => refuses(url));
    expect(closed).toBe(false);
    expect(connection.responses).toEqual([]);
    waiting.open();
    await expectSoon("closed", closing);
    await connection.closed();
    expect(connection.responses).toMatchObject([{ status: 200, body: answerTo("gated") }]);
  });

  test("does not wait for a connection that is kept when the last request on it has been answered", async () => {
    const { server, url, reached, gate: waiting } = await serving();
    const connection = await connect(url);
    await connection.send(request("gated"));
    await until("the request is under way", () => reached.length === 1);
    const closing = server.close(GRACE_MS);
    await until("nobody listens any more", () => refuses(url));
    waiting.open();
    expect(await connection.respond(1)).toMatchObject([{ status: 200, body: answerTo("gated") }]);
    await expectSoon("closed", closing);
    await connection.closed();
  });

  test("refuses what comes too late as any operation that is unavailable", async () => {
    const { server, url, reached, gate: waiting } = await serving();
    const connection = await connect(url);
    await connection.send(request("gated"));
    await until("the request is under way", () => reached.length === 1);
    const closing = server.close(GRACE_MS);
    await until("nobody listens any more", () => refuses(url));
    await connection.send(request("late"));
    waiting.open();
    await expectSoon("closed", closing);
    await connection.closed();
    const [first, ...late] = connection.responses;
    expect(first).toMatchObject({ status: 200, body: answerTo("gated") });
    // None where the connection is closed behind the first answer already.
    for (const { status, headers, body } of late) {
      expect(status).toBe(503);
      expect(headers.toLowerCase()).toContain("\r\nretry-after: 1");
      expect(JSON.parse(body)).toEqual({ error: "unavailable", error_description: expect.any(String) as string });
    }
  });

  test("waits for HTTP/2 streams under way", async () => {
    const { server, url, reached, gate: waiting } = await serving();
    const session = sessionTo(url);
    const asked = Promise.all([ask(session, "gated-1"), ask(session, "gated-2")]);
    await until("the requests are under way", () => reached.length === 2);
    let closed = false;
    const closing = server.close(GRACE_MS).then(() => {
      closed = true;
    });
    await until("nobody listens any more", () => refuses(url));
    expect(closed).toBe(false);
    waiting.open();
    expect(await asked).toEqual([
      { status: 200, body: answerTo("gated-1") },
      { status: 200, body: answerTo("gated-2") },
    ]);
    await expectSoon("closed", closing);
  });

  test("lets nothing new begin on the connections there are", async () => {
    const { server, url, reached, gate: waiting } = await serving();
    const first = await connect(url);
    await first.send(request("gated-1"));
    const session = sessionTo(url);
    const stream = ask(session, "gated-2");
    await until("two requests are under way", () => reached.length === 2);
    const closing = server.close(GRACE_MS);
    await until("nobody listens any more", () => refuses(url));
    await first.send(request("late-1"));
    const late = ask(session, "late-2").catch(() => undefined);
    waiting.open();
    await expectSoon("closed", closing);
    await stream;
    await late;
    expect(reached.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["gated-1", "gated-2"]);
  });

  test.each<[string, string]>([
    ["a request that is not answered", request("gated")],
    ["a request that does not end", request("endless").slice(0, -2)],
    ["a body that does not come", request("body").replace("Content-Length: 0", "Content-Length: 10")],
  ])("cuts, when its time is over, %s", async (_what, bytes) => {
    const { server, url } = await serving();
    const connection = await connect(url);
    await connection.send(bytes);
    await expectSoon("closed", server.close(50));
    await connection.closed();
    expect(connection.responses).toEqual([]);
  });

  test("cuts an HTTP/2 stream that is not answered when its time is over", async () => {
    const { server, url, reached } = await serving();
    const session = sessionTo(url);
    const asked = ask(session, "gated").catch(() => ({ status: undefined, body: "" }));
    await until("the request is under way", () => reached.length === 1);
    await expectSoon("closed", server.close(50));
    expect(await asked).toEqual({ status: undefined, body: "" });
  });
});

async function refuses(url: string): Promise<boolean> {
  try {
    const connection = await Connection.to(url);
    connection.end();
    return false;
  } catch {
    return true;
  }
}
