/** Every response has the id of its request, which is that of the log. */
import { describe, expect, test } from "vitest";
import { requestIdOf } from "../../../src/telemetry/request-record.js";
import { block, END_HEADERS, END_STREAM, frame, FrameConnection, Type } from "../../fixtures/http2-frames.js";
import { until } from "../../fixtures/wait.js";
import { type Exchange, occupy, overHttp1, overHttp2, overSocket, type Sent } from "./exchange.js";
import { envelope, kinds } from "./kinds.js";
import { startService } from "./service.js";

/** Sixteen hexadecimal digits of the process, and a number. */
const MADE = /^[0-9a-f]{16}-[1-9]\d*$/;
const ONE_RESPONSE = /^HTTP\/1\.1 (?:200|400) [^]*\r\n\r\n[^\r]*$/;
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
  test("over HTTP/1.1", async () => {
    const { url } = await startService();
    for (const value of [
      "a\nset-cookie: b=c",
      "a\rset-cookie: b=c",
      "a\r\n set-cookie: b=c",
      "a\0b",
      "a\r\nx-request-id: b",
    ]) {
      const head = `GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-request-id: ${value}\r\n\r\n`;
      const answer = await overSocket(url, head);
      expect({ value, answer }).toEqual({ value, answer: expect.stringMatching(ONE_RESPONSE) as string });
      expect(idOf(answer)).toMatch(MADE);
      expect(answer).not.toMatch(/set-cookie/i);
    }
  });

  test("over HTTP/2", async () => {
    const { url, loggedIds } = await startService();
    const connection = await FrameConnection.to(url);
    const values = ["a\nset-cookie: b=c", "a\r\nset-cookie: b=c", "a\0b"];
    for (const [at, value] of values.entries()) {
      const fields = block({
        ":method": "GET",
        ":scheme": "http",
        ":path": "/livez",
        ":authority": "a",
        "x-request-id": value,
      });
      connection.send(frame(Type.headers, END_HEADERS | END_STREAM, 2 * at + 1, fields));
    }
    await until("all are answered", () => values.every((_, at) => connection.isOver(2 * at + 1)));
    await until("all are logged", () => loggedIds().length >= values.length);
    for (const id of loggedIds()) expect(id).toMatch(MADE);
  });

  test("by whatever the parsers let through", () => {
    for (const value of ["a\r\nb", "a\n", "\na", "a\0", "a b", "a\u2028", "", ["a", "b"]]) {
      expect(requestIdOf({ "x-request-id": value })).toMatch(MADE);
    }
    expect(requestIdOf({ "x-request-id": "A.b_c-1" })).toBe("A.b_c-1");
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

async function expectRefusals(
  url: string,
  loggedIds: () => readonly string[],
  rest: string,
  grpcCode: string,
  forms = inForms,
) {
  for (const [form, exchange, sent, kind] of forms) {
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

  test("because too many requests are under way", async () => {
    const { url, loggedIds } = await startService({ OFFLEDGER_MAX_REQUESTS: "16" });
    const head = `POST ${rpc} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n1`;
    const release = await occupy(url, 17, head, false);
    // Over HTTP/2 the stream is refused.
    const overHttp1Only = inForms.filter(([, exchange]) => exchange === overHttp1);
    await expectRefusals(url, loggedIds, "503", "14", overHttp1Only);
    release();
  });

  test("for want of the ledger", async () => {
    const ledger = { OFFLEDGER_LEDGER_URL: "http://127.0.0.1:9", OFFLEDGER_LEDGER_PARTIES: "p::1220" };
    const { url } = await startService(ledger);
    const received = await overHttp1(url, withId({ path: "/readyz" }, "own"));
    expect(received).toMatchObject({ status: "503", id: "own" });
  });
});

describe("a request that is not received in time", () => {
  test("over HTTP/1.1 has one made for it: Node.js does not say which request it was", async () => {
    const { url } = await startService({ OFFLEDGER_REQUEST_SECONDS: "1" });
    const head = `POST ${rpc} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    const answer = await overSocket(url, `${head}{`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(idOf(answer)).toMatch(MADE);
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

describe("what the HTTP parser refuses", () => {
  test("has an id that was made for it", async () => {
    const { url, loggedIds } = await startService();
    const own = "x-request-id: own\r\n";
    for (const [bytes, status] of [
      ["nothing\r\n\r\n", 400],
      [`GET / HTTP/1.1\r\nHost: a\r\n${own}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
      [`GET /livez HTTP/1.1\r\nHost: a\r\n${own}\r\nnothing\r\n\r\n`, 400],
    ] as const) {
      const answer = await overSocket(url, bytes);
      const last = answer.slice(answer.lastIndexOf("HTTP/1.1 "));
      expect(last.slice(9, 12)).toBe(String(status));
      expect(idOf(last)).toMatch(MADE);
    }
    // The first request of the last connection.
    await until("the request is logged", () => loggedIds().length > 0);
    expect(loggedIds()).toEqual(["own"]);
  });
});
