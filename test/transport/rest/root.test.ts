/** `GET /`: which service this is. */
import { readFileSync } from "node:fs";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/transport/server.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { type Running, serveFile, type ServeOptions } from "../../fixtures/run-service.js";
import { unready } from "../../fixtures/scenarios.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const expected = { service: "offledger", version, docs: "/docs", openapi: "/api/utilities/v0/openapi" };

async function start(options?: ServeOptions): Promise<Running> {
  const running = await serveFile(undefined, options);
  onTestFinished(() => running.close());
  return running;
}

test("it names the service, its version, and paths that are served", async () => {
  const running = await start();
  const { status, headers, body } = await running.get("/");
  expect({ status, body }).toEqual({ status: 200, body: expected });
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  for (const path of [expected.docs, expected.openapi]) expect((await fetch(running.url + path)).status).toBe(200);
});

test.each(["", "/?a=b", "//"])("it answers at %j too", async (path) => {
  const running = await start();
  expect(await (await fetch(running.url + path)).json()).toEqual(expected);
});

test("HEAD has the headers of GET and no body", async () => {
  const running = await start();
  const get = await fetch(running.url);
  const head = await fetch(running.url, { method: "HEAD" });
  expect(head.status).toBe(200);
  for (const name of ["content-type", "content-length"]) expect(head.headers.get(name)).toBe(get.headers.get(name));
  expect(await head.text()).toBe("");
});

test("a JSON content type, a body and an Authorization header change nothing", async () => {
  const { hostname, port } = new URL((await start()).url);
  const headers = { "content-type": "application/json", "content-length": "2", authorization: "Bearer not.a.token" };
  const sent = requestHttp({ hostname, port, path: "/", headers });
  sent.end("{}");
  const response = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve));
  expect(JSON.parse(await text(response))).toEqual(expected);
});

test("it needs no token where all operations do", async () => {
  const publisher = new JwksServer([await Key.make("first")]);
  await publisher.open();
  onTestFinished(() => publisher.close());
  const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  const running = await start({ config });
  expect((await running.get("/api/utilities/v0/operator")).status).toBe(401);
  expect(await running.get("/")).toMatchObject({ status: 200, body: expected });
});

test("it needs no contracts", async () => {
  const server = await unready();
  onTestFinished(() => server.close());
  expect((await fetch(`${server.url}/api/utilities/v0/operator`)).status).toBe(503);
  expect(await (await fetch(server.url)).json()).toEqual(expected);
});

test("it passes the rate limits, the limit on paths, CORS and the request record", async () => {
  const outcomes: string[] = [];
  const server = await createServer([], {
    ...TEST_SERVER_OPTIONS,
    middleware: { ...TEST_SERVER_OPTIONS.middleware, rates: { perClient: 0, inAll: 3 }, maxPathBytes: 100 },
    observers: [({ request, outcome }) => outcomes.push(`${request.method} ${outcome}`)],
  });
  const url = await server.listen("127.0.0.1", 0);
  onTestFinished(() => server.close(1_000));
  const long = await fetch(`${url}/?${"a".repeat(100)}`);
  expect([long.status, long.headers.get("access-control-allow-origin")]).toEqual([414, "*"]);
  const statuses = new Set<number>();
  // One second has at most three of them, and eight seconds of one request each are out of reach.
  while (!statuses.has(429) && outcomes.length < 1_000) statuses.add((await fetch(url)).status);
  expect(statuses).toEqual(new Set([200, 429]));
  // 3 is invalid_argument, 8 is resource_exhausted.
  expect(new Set(outcomes)).toEqual(new Set(["GET 3", "GET 0", "GET 8"]));
});

test("a process without operations names no OpenAPI document", async () => {
  const server = await createServer([], TEST_SERVER_OPTIONS);
  const url = await server.listen("127.0.0.1", 0);
  onTestFinished(() => server.close(1_000));
  const { openapi: _, ...others } = expected;
  expect(await (await fetch(url)).json()).toEqual(others);
});
