/** Every response has the id of its request, which is that of the log. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendShutdownResponse } from "../../../src/transport/shutdown-response.js";
import { END_HEADERS, END_STREAM, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { Connection } from "../../fixtures/raw-connection.js";
import { until } from "../../fixtures/wait.js";
import { type Exchange, overHttp1, overHttp2, type Sent } from "./exchange.js";
import { envelope, kinds } from "./kinds.js";
import { startService } from "./service.js";

/** Sixteen hexadecimal digits of the process, and a number. */
const MADE = /^[0-9a-f]{16}-[1-9]\d*$/;
const MALFORMED = ["with space", "a%0d%0aset-cookie:b=c", "x".repeat(129), "a,b", 'a"b', "a/b", "ä", ""];

const withId = (sent: Sent, id: string): Sent => ({ ...sent, headers: { ...sent.headers, "x-request-id": id } });
const idOf = (headers: string): string | undefined => /^x-request-id: (.*)$/im.exec(headers)?.[1]?.trimEnd();

test("every kind of response has the caller's id, or one made for it, as the log has", async () => {
  const { url, loggedIds } = await startService();
  const made: string[] = [];
  const logged: string[] = [];
  for (const [at, { name, exchange, sent, status, isLogged = true }] of kinds.entries()) {
    const given = `Kind_${at}.a-b`;
    const malformed = MALFORMED[at % MALFORMED.length] ?? "";
    const echoed = await exchange(url, withId(sent, given));
    expect({ name, status: echoed.status, id: echoed.id }).toEqual({ name, status, id: given });
    const others = [await exchange(url, withId(sent, malformed)), await exchange(url, sent)];
    for (const other of others) {
      const id = expect.stringMatching(MADE) as string;
      expect({ name, status: other.status, id: other.id }).toEqual({ name, status, id });
      made.push(String(other.id));
    }
    if (isLogged) logged.push(given, ...others.map(({ id }) => String(id)));
  }
  expect(new Set(made).size).toBe(2 * kinds.length);
  await until("all requests are logged", () => loggedIds().length >= logged.length);
  expect(loggedIds().toSorted()).toEqual(logged.toSorted());
});

test("a malformed id is replaced on every path, whatever is wrong with it", async () => {
  const { url } = await startService({ OFFLEDGER_LOG_REQUESTS: "none" });
  for (const exchange of [overHttp1, overHttp2]) {
    for (const malformed of MALFORMED) {
      const { id } = await exchange(url, withId({ path: "/livez" }, malformed));
      expect({ malformed, id }).toEqual({ malformed, id: expect.stringMatching(MADE) as string });
    }
    const longest = "x".repeat(128);
    expect(await exchange(url, withId({ path: "/livez" }, longest))).toMatchObject({ id: longest });
  }
});

describe("no header can be injected", () => {
  test.each([
    ["a line feed", "a\nset-cookie: b=c"],
    ["a carriage return", "a\rset-cookie: b=c"],
    ["a folded line", "a\r\n set-cookie: b=c"],
    ["a zero byte", "a\0b"],
    ["two fields", "a\r\nx-request-id: b"],
  ])("by %s over HTTP/1.1", async (_, value) => {
    const { url } = await startService();
    const connection = await Connection.to(url);
    await connection.send(`GET /livez HTTP/1.1\r\nHost: a\r\nx-request-id: ${value}\r\n\r\n`);
    const [response] = await connection.respond(1);
    expect(idOf(response?.headers ?? "")).toMatch(MADE);
    expect(response?.headers).not.toMatch(/set-cookie/i);
    connection.end();
  });

  test.each([
    ["a line feed", "a\nset-cookie: b=c"],
    ["a line end", "a\r\nset-cookie: b=c"],
  ])("by %s over HTTP/2: the request is reset", async (_, value) => {
    const { url } = await startService();
    const connection = await FrameConnection.to(url);
    const fields = requestHeaders("/livez", { ":method": "GET", "x-request-id": value });
    connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 1, fields));
    await until("the request is refused", () => connection.isOver(1) || connection.hasEnded);
    expect(connection.of(Type.headers, 1)).toEqual([]);
  });
});

const call = { headers: { "content-type": "application/json" }, body: "{}" };
const rpc = "/offledger.metadata.v1.MetadataService/GetRegistryInfo";
const grpc = { headers: { "content-type": "application/grpc", te: "trailers" }, body: envelope("") };

const inForms: readonly (readonly [form: string, Exchange, Sent, status: string])[] = [
  ["REST", overHttp1, { path: "/api/utilities/v0/operator" }, ""],
  ["Connect", overHttp1, { path: rpc, ...call }, ""],
  [
    "gRPC-Web",
    overHttp1,
    { path: rpc, headers: { "content-type": "application/grpc-web" }, body: envelope("") },
    "grpc",
  ],
  ["gRPC", overHttp2, { path: rpc, ...grpc }, "grpc"],
];

/** Sends until the status is the one that is expected: a rate allows some requests. */
async function untilRefused(exchange: Exchange, url: string, sent: Sent, status: string) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const received = await exchange(url, sent);
    if (received.status === status) return received;
  }
  throw new Error(`no response had the status ${status}`);
}

async function expectRefusals(url: string, loggedIds: () => readonly string[], rest: string, grpcCode: string) {
  for (const [form, exchange, sent, kind] of inForms) {
    const status = kind === "grpc" ? `grpc ${grpcCode}` : rest;
    expect(await untilRefused(exchange, url, withId(sent, `own-${form}`), status)).toMatchObject({ id: `own-${form}` });
    const { id } = await untilRefused(exchange, url, sent, status);
    expect(id).toMatch(MADE);
    await until("it is logged", () => loggedIds().includes(`own-${form}`) && loggedIds().includes(String(id)));
  }
}

describe("a refusal", () => {
  test("because of a rate", async () => {
    const { url, loggedIds } = await startService({ OFFLEDGER_RATE_IN_ALL: "1" });
    await expectRefusals(url, loggedIds, "429", "8");
  });

  test("because of an overload: every request finds its tick too old", async () => {
    const { url, loggedIds } = await startService({ OFFLEDGER_RATE_IN_ALL: "0", OFFLEDGER_MAX_REQUESTS: "1" });
    // A body that does not end is under way.
    const busy = await Connection.to(url);
    await busy.send("POST /api/utilities/v0/operator HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1");
    await expectRefusals(url, loggedIds, "503", "14");
    busy.end();
  });

  test("because the connections are used up", async () => {
    const { url, loggedIds } = await startService({ OFFLEDGER_MAX_CONNECTIONS: "1" });
    const only = await Connection.to(url);
    await only.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    await only.respond(1);
    await expectRefusals(url, loggedIds, "503", "14");
    only.end();
  });

  test("for want of the ledger", async () => {
    const ledger = { OFFLEDGER_LEDGER_URL: "http://127.0.0.1:9", OFFLEDGER_LEDGER_PARTIES: "p::1220" };
    const { url } = await startService(ledger);
    const received = await overHttp1(url, withId({ path: "/readyz" }, "own"));
    expect(received).toMatchObject({ status: "503", id: "own" });
  });
});

describe("a request that is not received in time", () => {
  test.each([
    ["the caller's id, as in the log", { "x-request-id": "own" }, /^own$/],
    ["one made for it, as in the log", {}, MADE],
  ])("over HTTP/1.1 has %s", async (_, header, id) => {
    const { url, loggedIds } = await startService({ OFFLEDGER_REQUEST_SECONDS: "1" });
    const connection = await Connection.to(url);
    const fields = Object.entries({ ...call.headers, ...header }).map(([name, value]) => `${name}: ${value}\r\n`);
    await connection.send(`POST ${rpc} HTTP/1.1\r\nHost: a\r\n${fields.join("")}Content-Length: 100\r\n\r\n{`);
    const [response] = await connection.respond(1);
    expect(response?.status).toBe(408);
    const received = idOf(response?.headers ?? "");
    expect(received).toMatch(id);
    await until("the request is logged", () => loggedIds().length > 0);
    expect(loggedIds()).toEqual([received]);
  });

  test.each([
    ["the caller's id, as in the log", { "x-request-id": "own" }, /^own$/],
    ["one made for it, as in the log", {}, MADE],
  ])("over HTTP/2 has %s", async (_, header, id) => {
    const { url, loggedIds } = await startService({ OFFLEDGER_REQUEST_SECONDS: "1" });
    const headers = { ...call.headers, ...header };
    const received = await overHttp2(url, { path: rpc, headers, body: "{", isUnfinished: true });
    expect(received.status).toBe("408");
    expect(received.id).toMatch(id);
    await until("the request is logged", () => loggedIds().length > 0);
    expect(loggedIds()).toEqual([received.id]);
  });
});

describe("what the HTTP parser refuses has an id that was made for it", () => {
  test.each([
    ["no HTTP", "nothing\r\n\r\n", 400],
    ["a header that is too large", `GET / HTTP/1.1\r\nHost: a\r\nx-request-id: own\r\nX: ${"x".repeat(20_000)}`, 431],
    [
      "a second request on a connection",
      "GET /livez HTTP/1.1\r\nHost: a\r\nx-request-id: own\r\n\r\nnothing\r\n\r\n",
      400,
    ],
  ])("%s", async (_, bytes, status) => {
    const { url } = await startService();
    const connection = await Connection.to(url);
    await connection.send(bytes);
    await connection.closed();
    const last = connection.responses.at(-1);
    expect(last?.status).toBe(status);
    expect(idOf(last?.headers ?? "")).toMatch(MADE);
  });

  test("but the id of its request, if its body is malformed", async () => {
    const { url, loggedIds } = await startService();
    const connection = await Connection.to(url);
    const head = `POST ${rpc} HTTP/1.1\r\nHost: a\r\nx-request-id: own\r\nContent-Type: application/json\r\n`;
    await connection.send(`${head}Transfer-Encoding: chunked\r\n\r\nno chunk\r\n`);
    const [response] = await connection.respond(1);
    expect([response?.status, idOf(response?.headers ?? "")]).toEqual([400, "own"]);
    await until("the request is logged", () => loggedIds().length > 0);
    expect(loggedIds()).toEqual(["own"]);
  });
});

test("responses during shutdown have it", async () => {
  const http1 = createServer(sendShutdownResponse);
  const http2 = createHttp2Server((request, response) =>
    sendShutdownResponse(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
  for (const server of [http1, http2]) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
  }
  for (const [form, exchange, sent] of inForms) {
    const server = exchange === overHttp1 ? http1 : http2;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect({ form, ...(await exchange(url, withId(sent, "own"))) }).toMatchObject({ form, id: "own" });
    expect((await exchange(url, withId(sent, "not plain"))).id).toMatch(MADE);
    expect((await exchange(url, sent)).id).toMatch(MADE);
  }
});
