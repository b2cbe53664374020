/** CORS: what pages of other origins may send and read. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AppConfig } from "../../src/config/limits.js";
import { cashTransfer } from "../fixtures/calls/index.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../fixtures/issuer.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

const PAGE = "https://wallet.example";
const EXTENSION = "chrome-extension://abcdefghijklmnop";
const rpc = "/offledger.operator.v0.OperatorService/GetOperator";
const operator = "/api/utilities/v0/operator";
const json = { "content-type": "application/json" };
const grpcWeb = { "content-type": "application/grpc-web+proto" };

const publisher = new JwksServer([await Key.make("first")]);
let [any, none, some, guarded]: Running[] = [];
const serve = (config: Partial<AppConfig>) => serveFile(undefined, { config });

beforeAll(async () => {
  await publisher.open();
  const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  [any, none, some, guarded] = await Promise.all([
    serve({}),
    serve({ corsOrigins: "none" }),
    serve({ corsOrigins: [PAGE, "http://localhost:3000", EXTENSION] }),
    serve(auth),
  ]);
});
afterAll(async () => {
  for (const running of [any, none, some, guarded]) await running?.close();
  await publisher.close();
});

/** Node.js's fetch sends Origin, unlike those of browsers. */
async function send(to: Running | undefined, method: string, path: string, headers: Record<string, string>, body = "") {
  const response = await fetch((to?.url ?? "") + path, { method, headers, ...(body !== "" && { body }) });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
const preflight = (to: Running | undefined, path: string, origin = PAGE) =>
  send(to, "OPTIONS", path, { ...asksFor(origin), "access-control-request-headers": "a" });
const asksFor = (origin: string) => ({ origin, "access-control-request-method": "POST" });
const listed = (value: string | undefined): string[] => (value ?? "").toLowerCase().split(/, */);
/** The request headers on which a response depends, besides the one of compression. */
const varies = ({ vary }: Readonly<Record<string, string>>): string[] =>
  vary === undefined ? [] : listed(vary).filter((name) => name !== "accept-encoding");

test.each([cashTransfer.path, rpc, "/nothing", "/"])("a preflight of %s succeeds without a token", async (path) => {
  for (const to of [any, guarded]) {
    const { status, headers, body } = await preflight(to, path);
    expect({ status, body }).toEqual({ status: 204, body: "" });
    expect(headers).toMatchObject({ "access-control-allow-origin": "*", "access-control-max-age": "7200" });
    expect(listed(headers["access-control-allow-methods"])).toEqual(["get", "head", "post"]);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    expect(varies(headers)).toEqual(["access-control-request-headers"]);
  }
});

describe("a preflight allows the headers that the page asks for", () => {
  const ask = (names: string) =>
    send(any, "OPTIONS", rpc, { ...asksFor(PAGE), "access-control-request-headers": names });
  const sent =
    "authorization,baggage,connect-protocol-version,content-type,sentry-trace,traceparent,tracestate,x-b3-traceid," +
    "x-cloud-trace-context,x-datadog-trace-id,x-user-agent";

  test.each(["content-type", sent, "a, b", "x-'odd`|~name"])("%s", async (names) => {
    const { status, headers } = await ask(names);
    expect([status, headers["access-control-allow-headers"]]).toEqual([204, names]);
  });

  test("none where it asks for none", async () => {
    const { status, headers } = await send(any, "OPTIONS", rpc, asksFor(PAGE));
    expect([status, headers["access-control-allow-headers"]]).toEqual([204, undefined]);
  });
});

test.each([
  ["REST", cashTransfer.path, json, JSON.stringify(cashTransfer.body), 200],
  ["Connect", rpc, json, "{}", 200],
  ["gRPC-Web", rpc, grpcWeb, "\0\0\0\0\0", 200],
] as const)("a response of %s can be read", async (_title, path, headers, body, expected) => {
  const exposed =
    "grpc-status grpc-message grpc-status-details-bin retry-after www-authenticate date etag x-request-id " +
    "offledger-generation offledger-offset offledger-record-time offledger-tags offledger-valid-until offledger-not-modified";
  const response = await send(any, "POST", path, { origin: PAGE, ...headers }, body);
  expect([response.status, response.headers["access-control-allow-origin"]]).toEqual([expected, "*"]);
  const names = listed(response.headers["access-control-expose-headers"]);
  expect(names).toEqual(expect.arrayContaining(exposed.split(" ")));
});

test("a response without an origin has the headers that caches need", async () => {
  expect((await send(any, "GET", operator, {})).headers).toMatchObject({ "access-control-allow-origin": "*" });
  expect((await send(some, "GET", operator, {})).headers["vary"]).toBe("Origin, accept-encoding");
});

test.each<[origin: string, isListed: boolean]>([
  [PAGE, true],
  ["http://localhost:3000", true],
  [EXTENSION, true],
  ["https://other.example", false],
  ["null", false],
  [`${PAGE}.evil.example`, false],
])("where origins are listed, %s is allowed: %s", async (origin, isListed) => {
  for (const { headers } of [
    await preflight(some, rpc, origin),
    await send(some, "POST", rpc, { origin, ...json }, "{}"),
    await send(some, "GET", operator, { origin }),
    ...(isListed ? [await send(some, "GET", "/nothing", { origin })] : []),
  ])
    expect([headers["access-control-allow-origin"], varies(headers)[0]]).toEqual([
      isListed ? origin : undefined,
      "origin",
    ]);
});

test("'none' sends no CORS headers", async () => {
  for (const { headers } of [
    await preflight(none, rpc),
    await preflight(none, cashTransfer.path),
    await send(none, "POST", rpc, { origin: PAGE, ...json }, "{}"),
    await send(none, "GET", operator, { origin: PAGE }),
  ]) {
    const names = Object.keys(headers).filter((name) => name.startsWith("access-control"));
    expect([...names, ...varies(headers)]).toEqual([]);
  }
});
