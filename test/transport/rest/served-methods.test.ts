/** Requests for a path that is served, by another method. */
import { connect as connectHttp2 } from "node:http2";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/transport/server.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const registry = "/api/token-standard/v0/registrars/registrar%3A%3A1220/registry";
const id = "00ab";
/** As long as on a ledger. */
const longId = "00".repeat(69);

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
    ["GET", `${registry}/allocation/v2/settlement-factory`, "POST"],
    ["GET", `${registry}/transfer-instruction/v1/transfer-factory`, "POST"],
    ["PUT", `${registry}/transfer-instruction/v2/${id}/choice-contexts/reject`, "POST"],
    ["DELETE", `${registry}/allocations/v1/${id}/choice-contexts/withdraw`, "POST"],
    ["PATCH", `${registry}/allocations/v2/${id}/choice-contexts/cancel`, "POST"],
    ["POST", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["PUT", `${registry}/metadata/v1/instruments`, "GET, HEAD"],
    ["DELETE", `${registry}/metadata/v1/instruments/a%2Fb`, "GET, HEAD"],
    ["POST", `${registry}/metadata/v1/instruments?pageSize=1`, "GET, HEAD"],
    ["POST", `//${registry.slice(1)}/metadata/v1/info/`, "GET, HEAD"],
    ["PROPFIND", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["TRACE", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["OPTIONS", `${registry}/metadata/v1/info`, "GET, HEAD"],
    ["POST", "/livez", "GET, HEAD"],
    ["DELETE", "/readyz", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["POST", "/docs", "GET, HEAD"],
    ["POST", "/docs/", "GET, HEAD"],
    ["DELETE", "/docs/json", "GET, HEAD"],
  ])("answers %s %s with 405 and the methods it has", async (method, path, allow) => {
    const response = await send(method, path);
    expect(response.status).toBe(405);
    expect(response.headers["allow"]).toBe(allow);
    expect(response.headers["content-type"]).toMatch(/^application\/json/);
    const methods = allow.replaceAll(", ", " or ");
    expect(JSON.parse(response.body)).toEqual({ error: `the method of ${path} must be ${methods}, but is ${method}` });
  });

  test("answers HEAD, which has no body, with 405 where it has no GET", async () => {
    const { status, headers, body } = await send("HEAD", `${registry}/transfer-instruction/v1/transfer-factory`);
    expect({ status, allow: headers["allow"], body }).toEqual({ status: 405, allow: "POST", body: "" });
  });
});

describe("a utility path", () => {
  test.each<[method: string, path: string, allow: string]>([
    ["GET", "/api/utilities/v0/contract/instrument-configuration", "POST"],
    ["POST", "/api/utilities/v0/contract/instrument-configuration/all", "GET, HEAD"],
    ["POST", "/api/utilities/v0/contract/instrument-configuration/paginated?page=1", "GET, HEAD"],
    ["GET", `/api/utilities/v0/registry/burn/v0/request/${id}/choice-contexts/accept`, "POST"],
    ["PUT", `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`, "POST"],
    ["DELETE", "/api/utilities/v0/operator", "GET, HEAD"],
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
    const session = connectHttp2(running.url);
    try {
      const stream = session.request({ ":method": "DELETE", ":path": "/api/utilities/v0/operator" });
      const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once("response", resolve));
      expect(headers).toMatchObject({ ":status": 405, allow: "GET, HEAD" });
      stream.resume();
    } finally {
      session.destroy();
    }
  });

  test("for a contract id of a ledger", async () => {
    const path = `${registry}/transfer-instruction/v1/${longId}/choice-contexts/accept`;
    expect(await send("GET", path)).toMatchObject({ status: 405, headers: { allow: "POST" } });
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
    ["PROPFIND", "/nothing"],
    ["GET", "/docs/static/nothing.js"],
    ["GET", "/API/utilities/v0/operator"],
  ])("for %s %s, which is no path", async (method, path) => {
    const { status, headers, body } = await send(method, path);
    expect(status).toBe(404);
    expect(headers["allow"]).toBeUndefined();
    expect(body).toContain(`nothing is served at ${method} ${path}`);
  });

  test("for a registrar that is not served, by the right method", async () => {
    const { status, headers } = await send("GET", `${registry}/metadata/v1/info`);
    expect({ status, allow: headers["allow"] }).toEqual({ status: 404, allow: undefined });
  });
});
