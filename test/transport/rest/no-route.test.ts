/** Paths without an operation: `GET /`, 404, and 405 for a path that another method has. */
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/transport/server.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { requestHttp2 } from "../../fixtures/http-requests.js";
import { unready } from "../../fixtures/scenarios.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const registry = "/api/token-standard/v0/registrars/registrar%3A%3A1220/registry";
const id = "00ab";

const publisher = new JwksServer([await Key.make("first")]);
let running: Running;
let guarded: Running;
let limited: Running;
beforeAll(async () => {
  await publisher.open();
  running = await serveFile(undefined);
  const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  guarded = await serveFile(undefined, { config: auth });
  limited = await serveFile(undefined, { config: { rateInAll: 1_000_000 } });
});
afterAll(async () => {
  for (const service of [running, guarded, limited]) await service.close();
  await publisher.close();
});

interface Response {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Uses node:http because fetch rejects some methods, and normalises paths. */
async function send(method: string, path: string, body = "", to: Running = running): Promise<Response> {
  const { hostname, port } = new URL(to.url);
  const headers = body === "" ? {} : { "content-type": "application/json" };
  const sent = requestHttp({ hostname, port, method, path, headers });
  sent.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.once("response", resolve).once("error", reject),
  );
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe("a token-standard path", () => {
  test.each<[method: string, path: string, allow: string]>([
    ["PUT", `${registry}/transfer-instruction/v2/${id}/choice-contexts/reject`, "POST"],
    ["POST", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["POST", `${registry}/metadata/v1/instruments?pageSize=1`, "GET, HEAD"],
    ["POST", `//${registry.slice(1)}/metadata/v1/info/`, "GET, HEAD"],
    ["PROPFIND", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["OPTIONS", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["DELETE", "/readyz", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["DELETE", "/docs/json", "GET, HEAD"],
  ])("answers %s %s with 405 and the methods it has", async (method, path, allow) => {
    const response = await send(method, path);
    expect(response.status).toBe(405);
    expect(response.headers["allow"]).toBe(allow);
    expect(response.headers["content-type"]).toMatch(/^application\/json/);
    const methods = allow.replaceAll(", ", " or ");
    expect(JSON.parse(response.body)).toEqual({ error: `the method of ${path} must be ${methods}, but is ${method}` });
  });
});

describe("a utility path", () => {
  test.each<[method: string, path: string, allow: string]>([
    ["GET", "/api/utilities/v0/contract/instrument-configuration", "POST"],
    ["POST", "//api/utilities//v0/operator/", "GET, HEAD"],
    ["POST", "/%61pi/utilities/v0/operator", "GET, HEAD"],
    ["OPTIONS", "/api/utilities/v0/operator", "GET, HEAD"],
  ])("answers %s %s with 405 in the form of its errors", async (method, path, allow) => {
    const response = await send(method, path);
    expect(response.status).toBe(405);
    expect(response.headers["allow"]).toBe(allow);
    const methods = allow.replaceAll(", ", " or ");
    const error_description = `the method of ${path} must be ${methods}, but is ${method}`;
    expect(JSON.parse(response.body)).toEqual({ error: "invalid_argument", error_description });
  });
});

describe("405 is answered", () => {
  test("before the body is read, whatever it holds", async () => {
    const body = JSON.stringify({ padding: "x".repeat(2 * 1024 * 1024) });
    expect(await send("PUT", "/api/utilities/v0/operator", body)).toMatchObject({ status: 405 });
    expect(await send("POST", "/api/utilities/v0/operator", "{")).toMatchObject({ status: 405 });
  });

  test("without a token, and under a rate limit", async () => {
    for (const service of [guarded, limited]) {
      const response = await send("POST", "/api/utilities/v0/operator", "{}", service);
      expect(response).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    }
  });

  test("as a mistake of the caller in logs and metrics", async () => {
    const outcomes: [operation: string, outcome: number][] = [];
    const server = await createServer([], {
      ...TEST_SERVER_OPTIONS,
      observers: [({ operation, outcome }) => outcomes.push([operation, outcome])],
    });
    onTestFinished(() => server.close(1_000));
    const url = await server.listen("127.0.0.1", 0);
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
    // No operation, and invalid_argument.
    expect(outcomes).toEqual([["", 3]]);
  });

  test("over HTTP/2", async () => {
    const session = http2.connect(running.url);
    onTestFinished(() => session.destroy());
    const response = await requestHttp2(session, "/api/utilities/v0/operator", { ":method": "DELETE" });
    expect(response).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });

  test("by an rpc, in the form of Connect; a stream has POST only", async () => {
    const rpc = "/offledger.operator.v0.OperatorService/GetOperator";
    for (const [path, method, allow] of [
      [rpc, "PUT", "GET, POST"],
      ["/grpc.health.v1.Health/Watch", "GET", "POST"],
    ] as const) {
      const { status, headers, body } = await send(method, path);
      expect([status, headers["allow"]]).toEqual([405, allow]);
      const message = `the method of ${path} must be ${allow.replace(", ", " or ")}, but is ${method}`;
      expect(JSON.parse(body)).toMatchObject({ code: "invalid_argument", message });
    }
  });

  test("with a long URL cut in the message", async () => {
    const { status, body } = await send("POST", `/livez?${"a".repeat(4_000)}`);
    expect(status).toBe(405);
    expect(JSON.parse(body)).toEqual({
      error: `the method of /livez?${"a".repeat(193)}… must be GET or HEAD, but is POST`,
    });
  });
});

describe("404 remains", () => {
  test.each([
    ["GET", "/nothing"],
    ["POST", "/api/utilities/v0/nothing"],
    ["DELETE", `${registry}/metadata/v1/nothing`],
    ["PUT", `${registry}/metadata/v1/instruments/a/b`],
    ["OPTIONS", "/nothing"],
    ["GET", "/docs/static/nothing.js"],
  ])("for %s %s, which is no path", async (method, path) => {
    const { status, headers, body } = await send(method, path);
    expect(status).toBe(404);
    expect(headers["allow"]).toBeUndefined();
    expect(body).toContain(`nothing is served at ${method} ${path}`);
  });

  test.each([
    [
      "/api/utilities/v0/nothing",
      { error: "not_found", error_description: "nothing is served at POST /api/utilities/v0/nothing" },
    ],
    [
      "/offledger.burn.v0.BurnService/Nothing",
      { error: "nothing is served at POST /offledger.burn.v0.BurnService/Nothing" },
    ],
  ])("for %s in the form of its path", async (path, expected) => {
    const { status, body } = await send("POST", path, "{}");
    expect([status, JSON.parse(body)]).toEqual([404, expected]);
  });
});

describe("GET /", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const expected = { service: "offledger", version, docs: "/docs", openapi: "/api/utilities/v0/openapi" };

  test("names the service, its version, and paths that are served", async () => {
    const { status, headers, body } = await running.get("/");
    expect({ status, body }).toEqual({ status: 200, body: expected });
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    for (const path of [expected.docs, expected.openapi]) expect((await fetch(running.url + path)).status).toBe(200);
  });

  test("needs no token where all operations do", async () => {
    expect((await guarded.get("/api/utilities/v0/operator")).status).toBe(401);
    expect(await guarded.get("/")).toMatchObject({ status: 200, body: expected });
  });

  test("needs no contracts", async () => {
    const server = await unready();
    onTestFinished(() => server.close());
    expect((await fetch(`${server.url}/api/utilities/v0/operator`)).status).toBe(503);
    expect(await (await fetch(server.url)).json()).toEqual(expected);
  });

  test("a process without operations names no OpenAPI document", async () => {
    const server = await createServer([], TEST_SERVER_OPTIONS);
    const url = await server.listen("127.0.0.1", 0);
    onTestFinished(() => server.close(1_000));
    const { openapi: _, ...others } = expected;
    expect(await (await fetch(url)).json()).toEqual(others);
  });
});
