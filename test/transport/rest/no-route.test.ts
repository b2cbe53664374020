/** Paths without an operation: `GET /`, 404, and 405 for a path that another method has. */
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/transport/server.js";
import { acme } from "../../fixtures/calls/build.js";
import { calls } from "../../fixtures/calls/index.js";
import { sendHttp1, sendHttp2 } from "../../fixtures/http-requests.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { type Call, verbOf } from "../../fixtures/protocols.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { unready } from "../../fixtures/scenarios.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { nameOf } from "../../fixtures/services.js";

const operator = "/api/utilities/v0/operator";
const info = `${registry(acme)}/metadata/v1/info`;
const publisher = new JwksServer([await Key.make("first")]);
let running: Running;
let guarded: Running;
beforeAll(async () => {
  await publisher.open();
  running = await serveFile(undefined);
  const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  guarded = await serveFile(undefined, { config: auth });
});
afterAll(async () => {
  for (const service of [running, guarded]) await service.close();
  await publisher.close();
});

/** Not by fetch, which rejects some methods, and normalises paths. */
async function send(method: string, path: string, body = "", to: Running = running) {
  const headers = body === "" ? {} : { "content-type": "application/json" };
  const response = await sendHttp1(to.url, { method, path, headers, body: Buffer.from(body) });
  return { ...response, body: response.body.toString(), json: () => JSON.parse(response.body.toString()) as unknown };
}

describe("405 names the methods of the path", () => {
  const ofOperations = [...new Map(Object.values(calls).map((call) => [nameOf(call.method), call])).values()];
  test.each(ofOperations.map((call): [string, Call] => [nameOf(call.method), call]))("%s", async (_name, call) => {
    const [path = ""] = call.path.split("?");
    const [allow, wrong] = verbOf(call.method) === "GET" ? ["GET, HEAD", "POST"] : ["POST", "GET"];
    for (const method of [wrong, "PUT", "OPTIONS"]) {
      const response = await send(method, path);
      expect([response.status, response.headers["allow"]]).toEqual([405, allow]);
      const message = (response.json() as Record<string, string>)["error_description"] ?? response.body;
      expect(message).toMatch(new RegExp(`must be ${allow.replace(", ", " or ")}, but is ${method}`));
    }
    const rpc = await send("PUT", `/${nameOf(call.method)}`);
    expect([rpc.status, rpc.headers["allow"]]).toEqual([405, "GET, POST"]);
    expect(rpc.json()).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/but is PUT$/) as string,
    });
  });

  test.each<[method: string, path: string, allow: string]>([
    ["POST", `${registry(acme)}/metadata/v1/instruments?pageSize=1`, "GET, HEAD"],
    ["POST", `/${info}/`, "GET, HEAD"],
    ["PROPFIND", info, "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["DELETE", "/docs/json", "GET, HEAD"],
  ])("%s %s", async (method, path, allow) => {
    const response = await send(method, path);
    expect([response.status, response.headers["allow"]]).toEqual([405, allow]);
    expect(response.headers["content-type"]).toMatch(/^application\/json/);
    const methods = allow.replace(", ", " or ");
    expect(response.json()).toEqual({ error: `the method of ${path} must be ${methods}, but is ${method}` });
  });

  test.each<[method: string, path: string, allow: string]>([
    ["GET", "/api/utilities/v0/contract/instrument-configuration", "POST"],
    ["POST", "//api/utilities//v0/operator/", "GET or HEAD"],
    ["POST", "/%61pi/utilities/v0/operator", "GET or HEAD"],
  ])("%s %s, in the form of utility operations", async (method, path, allow) => {
    const error_description = `the method of ${path} must be ${allow}, but is ${method}`;
    expect((await send(method, path)).json()).toEqual({ error: "invalid_argument", error_description });
  });

  test("before the body is read, over HTTP/2, and without a token", async () => {
    const large = JSON.stringify({ padding: "x".repeat(2 * 1024 * 1024) });
    expect(await send("PUT", operator, large)).toMatchObject({ status: 405 });
    expect(await send("POST", operator, "{")).toMatchObject({ status: 405 });
    expect(await send("POST", operator, "{}", guarded)).toMatchObject({ status: 405 });
    // A content type that an rpc does not serve comes after the token.
    const rpc = { method: "POST", path: "/offledger.operator.v0.OperatorService/GetOperator", body: Buffer.from("x") };
    const typed = { ...rpc, headers: { "content-type": "text/plain" } };
    for (const [to, status] of [
      [guarded, 401],
      [running, 415],
    ] as const)
      expect(await sendHttp1(to.url, typed)).toMatchObject({ status });
    const session = http2.connect(running.url);
    onTestFinished(() => session.destroy());
    const response = await sendHttp2(session, { method: "DELETE", path: operator, headers: {} });
    expect(response).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });

  test("as a mistake of the caller in logs and metrics", async () => {
    const outcomes: [operation: string, outcome: number][] = [];
    const observers = [
      ({ operation, outcome }: { operation: string; outcome: number }) => outcomes.push([operation, outcome]),
    ];
    const server = await createServer([], { ...TEST_SERVER_OPTIONS, observers });
    onTestFinished(() => server.close(1_000));
    expect((await fetch(await server.listen("127.0.0.1", 0), { method: "POST" })).status).toBe(405);
    // No operation, and invalid_argument.
    expect(outcomes).toEqual([["", 3]]);
  });

  test("of a stream, which has POST only; and a long URL is cut in the message", async () => {
    const stream = await send("GET", "/grpc.health.v1.Health/Watch");
    expect([stream.status, stream.headers["allow"]]).toEqual([405, "POST"]);
    const error = `the method of /livez?${"a".repeat(193)}… must be GET or HEAD, but is POST`;
    expect((await send("POST", `/livez?${"a".repeat(4_000)}`)).json()).toEqual({ error });
  });
});

test.each([
  ["GET", "/nothing"],
  ["DELETE", `${registry(acme)}/metadata/v1/nothing`],
  ["PUT", `${registry(acme)}/metadata/v1/instruments/a/b`],
  ["GET", `${info}/more`],
  ["GET", info.replace("/v1/", "/v9/")],
  ["GET", info.toUpperCase()],
  // There is no registrar at the root.
  ["GET", "/registry/metadata/v1/info"],
  ["OPTIONS", "/nothing"],
  ["GET", "/docs/static/nothing.js"],
  ["POST", "/offledger.burn.v0.BurnService/Nothing"],
])("404 for %s %s, which is no path", async (method, path) => {
  const response = await send(method, path);
  expect([response.status, response.headers["allow"]]).toEqual([404, undefined]);
  expect(response.json()).toEqual({ error: `nothing is served at ${method} ${path}` });
});

test("404 in the form of utility operations", async () => {
  const error_description = "nothing is served at POST /api/utilities/v0/nothing";
  expect((await send("POST", "/api/utilities/v0/nothing")).json()).toEqual({ error: "not_found", error_description });
});

describe("GET /", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const expected = { service: "offledger", version, docs: "/docs", openapi: "/api/utilities/v0/openapi" };

  test("names the service, its version, and paths that are served", async () => {
    expect(await running.get("/")).toMatchObject({ status: 200, body: expected });
    for (const path of [expected.docs, expected.openapi]) expect((await fetch(running.url + path)).status).toBe(200);
  });

  test("needs no token, and no contracts", async () => {
    expect(await guarded.get("/")).toMatchObject({ status: 200, body: expected });
    const server = await unready();
    onTestFinished(() => server.close());
    expect(await (await fetch(server.url)).json()).toEqual(expected);
  });

  test("a process without operations names no OpenAPI document", async () => {
    const server = await createServer([], TEST_SERVER_OPTIONS);
    onTestFinished(() => server.close(1_000));
    const { openapi: _, ...others } = expected;
    expect(await (await fetch(await server.listen("127.0.0.1", 0))).json()).toEqual(others);
  });
});
