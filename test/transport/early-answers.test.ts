/** Answers that are given before a request has reached its route: a page can read them as it reads others. */
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { health } from "../../src/service/health.js";
import type { CompletedRequest } from "../../src/telemetry/request-record.js";
import type { Origins } from "../../src/transport/cors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { sendHttp1, sendHttp2 } from "../fixtures/http-requests.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { Connection } from "../fixtures/raw-connection.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const PAGE = "https://wallet.example";
const OTHER = "chrome-extension://abcdefghijklmnop";
const rpc = "/offledger.burn.v0.BurnService/GetBurnOfferCancelContext";
const rest = "/api/utilities/v0/registry/burn/v0/offer/a/choice-contexts/cancel";
const text = { "content-type": "text/plain" };

const early: [what: string, method: string, path: string, headers: Record<string, string>, status: number][] = [
  ["a percent sign that encodes nothing", "GET", "/%zz", {}, 400],
  ["escapes that are not UTF-8", "GET", "/api/utilities/v0/%E4", {}, 400],
  ["the same, of an rpc", "POST", `${rpc}%`, { "content-type": "application/json" }, 400],
  ["a path that is too long", "GET", `/${"a".repeat(13_000)}`, {}, 414],
  ["a path that is not served", "GET", "/nothing", {}, 404],
  ["a method that is not served", "PUT", rpc, {}, 405],
  ["OPTIONS that is no preflight", "OPTIONS", rest, {}, 405],
  ["a content type that an rpc does not serve", "POST", rpc, text, 415],
  ["no content type of an rpc", "POST", rpc, { "content-type": "" }, 415],
  ["a content type that REST does not serve", "POST", rest, text, 415],
  ["no content type of REST", "POST", rest, { "content-type": ";" }, 415],
];

describe.each<[Origins, allowed: string | undefined, vary: string | undefined]>([
  ["any", "*", undefined],
  [[PAGE, OTHER], PAGE, "origin"],
  [[OTHER], undefined, "origin"],
  ["none", undefined, undefined],
])("with the origins %j", (corsOrigins, allowed, vary) => {
  const records: CompletedRequest[] = [];
  const servers: Server[] = [];
  let [url, busyUrl]: string[] = [];
  let [session, busySession]: http2.ClientHttp2Session[] = [];

  async function open(connections: object): Promise<string> {
    const binding = bindPartial(BurnService, {
      getBurnOfferCancelContext: () => ({ values: [], disclosed: [] }),
    });
    const server = await createServer([binding, health(() => undefined)], {
      ...TEST_SERVER_OPTIONS,
      connections: { ...TEST_SERVER_OPTIONS.connections, requestMs: 300, ...connections },
      admission: { ...TEST_SERVER_OPTIONS.admission, corsOrigins },
      observers: [(completed) => void records.push(completed)],
    });
    servers.push(server);
    return server.listen("127.0.0.1", 0);
  }
  beforeAll(async () => {
    // Every turn of the second takes too long.
    [url, busyUrl] = [await open({}), await open({ turnMs: -1 })];
    [session, busySession] = [http2.connect(url), http2.connect(busyUrl)];
  });
  afterAll(async () => {
    for (const one of [session, busySession]) one?.destroy();
    for (const server of servers) await server.close(100);
  });

  const expectCors = (given: Readonly<Record<string, unknown>>): void => {
    // Each is sent once.
    const headers = given as Readonly<Record<string, string | undefined>>;
    const varies = (headers["vary"] ?? "")
      .toLowerCase()
      .split(/, */)
      .filter((name) => name !== "" && name !== "accept-encoding" && name !== "access-control-request-headers");
    expect([headers["access-control-allow-origin"], varies.join() || undefined]).toEqual([allowed, vary]);
    const exposed = (headers["access-control-expose-headers"] ?? "").toLowerCase();
    for (const name of ["retry-after", "x-request-id", "grpc-status", "offledger-tags"])
      expect([name, exposed.split(", ").includes(name)]).toEqual([name, corsOrigins !== "none"]);
    expect(headers["x-request-id"]).toMatch(/./);
  };

  test.each(early)("%s", async (_what, method, path, headers, status) => {
    const request = {
      method,
      path,
      headers: { origin: PAGE, ...headers },
      body: Buffer.from(method === "POST" ? "{}" : ""),
    };
    for (const send of [
      () => sendHttp1(url ?? "", request),
      () => sendHttp2(session as http2.ClientHttp2Session, request),
    ]) {
      records.length = 0;
      const response = await send();
      expect(response.status).toBe(status);
      const { error, code } = JSON.parse(response.body.toString()) as Record<string, unknown>;
      expect(error ?? code).toEqual(expect.any(String));
      expectCors(response.headers);
      expect(records.map(({ outcome }) => outcome)).toHaveLength(1);
    }
  });

  test("a turn that takes too long", async () => {
    const request = { method: "POST", path: rest, headers: { origin: PAGE } };
    for (const response of [
      await sendHttp1(busyUrl ?? "", request),
      await sendHttp2(busySession as http2.ClientHttp2Session, request),
    ]) {
      expect(response.status).toBe(503);
      expectCors(response.headers);
    }
  });

  test("a request over HTTP/2 that does not arrive in time", async () => {
    const request = {
      method: "POST",
      path: rest,
      headers: { origin: PAGE, "content-type": "application/json" },
      body: null,
    };
    const response = await sendHttp2(session as http2.ClientHttp2Session, request);
    expect(response.status).toBe(408);
    expect(JSON.parse(response.body.toString())).toEqual({ error: "request not received within 0.3 seconds" });
    expectCors(response.headers);
  });

  test("what is no request, whose origin nobody knows", async () => {
    const connection = await Connection.to(url ?? "");
    await connection.send(`GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${PAGE}\r\nA: ${"a".repeat(20_000)}\r\n\r\n`);
    const [response] = await connection.respond(1);
    expect(response?.status).toBe(431);
    expect(response?.headers).toMatch(/^connection: close\r$/im);
    expect(response?.headers).toMatch(/^x-request-id: [0-9a-f]{16}-\d+/im);
    const [, origin] = /^access-control-allow-origin: (.*)\r$/im.exec(response?.headers ?? "") ?? [];
    expect(origin).toBe(corsOrigins === "any" ? "*" : undefined);
    expect(/^access-control-expose-headers: .*x-request-id/im.test(response?.headers ?? "")).toBe(
      corsOrigins !== "none",
    );
  });
});

test("a malformed path is told as that, in the form of its API, and as unimplemented over gRPC", async () => {
  const server = await createServer([health(() => undefined)], TEST_SERVER_OPTIONS);
  const url = await server.listen("127.0.0.1", 0);
  const session = http2.connect(url);
  try {
    const get = (path: string) => sendHttp1(url, { method: "GET", path, headers: {} });
    const message = (path: string) => `the path ${path} is malformed: check its percent encoding`;
    expect(JSON.parse((await get("/a%2?b=%")).body.toString())).toEqual({ error: message("/a%2?b=%") });
    expect(JSON.parse((await get("/api/utilities/v0/%ff")).body.toString())).toEqual({
      error: "invalid_argument",
      error_description: message("/api/utilities/v0/%ff"),
    });
    // The query is not decoded to find the route, and a percent sign may be escaped.
    expect((await get("/livez?a=%")).status).toBe(200);
    expect((await get("/%25")).status).toBe(404);
    const headers = { "content-type": "application/grpc" };
    const rejected = await sendHttp2(session, { method: "POST", path: "/a%", headers });
    expect(rejected).toMatchObject({ status: 200, headers: { "grpc-status": "12" } });
  } finally {
    session.destroy();
    await server.close(100);
  }
});
