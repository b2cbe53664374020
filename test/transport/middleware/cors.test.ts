/** CORS headers. */
import { request as requestHttp, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { transferBody, transferFactory } from "../../fixtures/authenticated-calls.js";
import { AUDIENCE, ISSUER, Key, JwksServer } from "../../fixtures/issuer.js";

const PAGE = "https://wallet.example";
const OTHER = "https://other.example";
const rpc = "/offledger.operator.v0.OperatorService/GetOperator";
const publisher = new JwksServer([await Key.make("first")]);

const SENT =
  "authorization content-type accept-encoding content-encoding connect-protocol-version connect-timeout-ms x-grpc-web " +
  "x-user-agent grpc-timeout traceparent tracestate baggage x-request-id";

let any: Running;
let none: Running;
let some: Running;
let guarded: Running;
beforeAll(async () => {
  await publisher.open();
  any = await serveFile(undefined);
  none = await serveFile(undefined, { config: { corsOrigins: "none" } });
  some = await serveFile(undefined, { config: { corsOrigins: [PAGE, "http://localhost:3000"] } });
  const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  guarded = await serveFile(undefined, { config: auth });
});
afterAll(async () => {
  for (const running of [any, none, some, guarded]) await running.close();
  await publisher.close();
});

interface Response {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Uses node:http because fetch does not let the caller set Origin. */
async function send(
  to: Running,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<Response> {
  const sent = requestHttp(to.url + path, { method, headers });
  sent.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.once("response", resolve).once("error", reject),
  );
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

const preflight = (to: Running, path: string, origin = PAGE, method = "POST") =>
  send(to, "OPTIONS", path, {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "authorization,content-type",
  });
const listed = (value: string | undefined): string[] => (value ?? "").toLowerCase().split(/, */);
const json = { "content-type": "application/json" };
/** The request headers on which a response depends, besides the one of compression. */
const varies = ({ vary }: IncomingMessage["headers"]): string[] =>
  vary === undefined ? [] : listed(vary).filter((name) => name !== "accept-encoding");
const cross = (headers: IncomingMessage["headers"]) => [
  ...Object.keys(headers).filter((name) => name.startsWith("access-control")),
  ...varies(headers),
];

describe("a preflight", () => {
  test.each([transferFactory, "/api/utilities/v0/operator", "/livez", rpc, "/docs/json", "/nothing", "/"])(
    "of %s succeeds without a token",
    async (path) => {
      for (const to of [any, guarded]) {
        const { status, headers, body } = await preflight(to, path);
        expect({ status, body }).toEqual({ status: 204, body: "" });
        expect(headers["access-control-allow-origin"]).toBe("*");
        expect(listed(headers["access-control-allow-methods"])).toEqual(["get", "head", "post"]);
        expect(headers["access-control-max-age"]).toBe("7200");
        expect(headers["access-control-allow-credentials"]).toBeUndefined();
        expect(headers["access-control-allow-private-network"]).toBeUndefined();
        expect(headers["vary"]).toBeUndefined();
      }
    },
  );

  test("allows the headers that clients send", async () => {
    const { headers } = await preflight(any, rpc);
    const allowed = listed(headers["access-control-allow-headers"]);
    for (const name of SENT.split(" ")) {
      expect(allowed).toContain(name);
    }
    expect(new Set(allowed).size).toBe(allowed.length);
    expect(allowed).not.toContain("cookie");
  });

  test("over HTTP/2", async () => {
    const session = connect(any.url);
    try {
      const stream = session.request({
        ":method": "OPTIONS",
        ":path": rpc,
        origin: PAGE,
        "access-control-request-method": "POST",
      });
      const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once("response", resolve));
      expect(headers).toMatchObject({ ":status": 204, "access-control-allow-origin": "*" });
      stream.resume();
    } finally {
      session.destroy();
    }
  });

  test.each([{ origin: PAGE }, { "access-control-request-method": "POST" }, {}])(
    "OPTIONS with %j is not a preflight and gets 405",
    async (headers: Record<string, string>) => {
      const { status, headers: received, body } = await send(any, "OPTIONS", transferFactory, headers);
      expect({ status, allow: received["allow"] }).toEqual({ status: 405, allow: "POST" });
      expect(JSON.parse(body)).toEqual({ error: expect.stringContaining("must be POST, but is OPTIONS") });
    },
  );
});

describe("a response", () => {
  const exposed = ["grpc-status", "grpc-message", "grpc-status-details-bin", "retry-after", "www-authenticate"];

  test.each([
    ["REST", "POST", transferFactory, json, JSON.stringify(transferBody), 200],
    ["REST GET", "GET", "/api/utilities/v0/operator", {}, "", 200],
    ["invalid REST", "POST", transferFactory, json, "{", 400],
    ["an unknown path", "POST", "/nothing", json, "{}", 404],
    ["Connect", "POST", rpc, json, "{}", 200],
    ["Connect GET", "GET", `${rpc}?connect=v1&encoding=json&message=%7B%7D`, {}, "", 200],
    ["invalid Connect", "POST", rpc, json, "{", 400],
    ["gRPC-Web", "POST", rpc, { "content-type": "application/grpc-web+proto" }, "\0\0\0\0\0", 200],
  ] as const)("of %s can be read", async (_title, method, path, headers, body, expected) => {
    const response = await send(any, method, path, { origin: PAGE, ...headers }, body);
    expect(response.status).toBe(expected);
    expect(response.headers["access-control-allow-origin"]).toBe("*");
    for (const name of exposed) expect(listed(response.headers["access-control-expose-headers"])).toContain(name);
  });

  test.each([
    ["REST", transferFactory, json, 401],
    ["Connect", rpc, json, 401],
    ["gRPC-Web", rpc, { "content-type": "application/grpc-web+proto" }, 200],
  ] as const)("of %s that rejects can be read", async (_title, path, headers, status) => {
    const response = await send(guarded, "POST", path, { origin: PAGE, ...headers }, "{}");
    expect(response.status).toBe(status);
    expect(response.headers["access-control-allow-origin"]).toBe("*");
    expect(response.headers["www-authenticate"]).toContain("Bearer");
  });

  test("without an origin has the headers that caches need", async () => {
    for (const response of [
      await send(any, "POST", transferFactory, json, JSON.stringify(transferBody)),
      await send(any, "GET", "/api/utilities/v0/operator", {}),
    ]) {
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({ "access-control-allow-origin": "*" });
    }
    expect((await send(some, "GET", "/api/utilities/v0/operator", {})).headers["vary"]).toBe("Origin, accept-encoding");
  });
});

describe("a list of origins", () => {
  test.each([PAGE, "http://localhost:3000"])("%s is allowed", async (origin) => {
    for (const response of [
      await preflight(some, rpc, origin),
      await send(some, "POST", rpc, { origin, ...json }, "{}"),
      await send(some, "GET", "/api/utilities/v0/operator", { origin }),
      await send(some, "GET", "/nothing", { origin }),
    ]) {
      expect(response.headers).toMatchObject({ "access-control-allow-origin": origin });
      expect(varies(response.headers)).toEqual(["origin"]);
    }
  });

  test.each([
    OTHER,
    "null",
    "https://wallet.example.evil.example",
    "http://wallet.example",
    `${PAGE}:444`,
    PAGE.toUpperCase(),
  ])("%s is not allowed", async (origin) => {
    for (const response of [
      await preflight(some, rpc, origin),
      await send(some, "POST", rpc, { origin, ...json }, "{}"),
      await send(some, "GET", "/api/utilities/v0/operator", { origin }),
    ]) {
      expect(response.headers["access-control-allow-origin"]).toBeUndefined();
      expect(varies(response.headers)).toEqual(["origin"]);
    }
  });
});

test("'none' sends no CORS headers", async () => {
  for (const response of [
    await preflight(none, rpc),
    await preflight(none, transferFactory),
    await send(none, "POST", rpc, { origin: PAGE, ...json }, "{}"),
    await send(none, "GET", "/api/utilities/v0/operator", { origin: PAGE }),
  ]) {
    expect(cross(response.headers)).toEqual([]);
  }
});
