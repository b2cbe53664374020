/** The operator's port without a token: it serves this machine only, apart from metrics and warnings. */
import { Agent, request as requestHttp, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { guardedCalls, rawGrpc } from "./guarded-calls.js";
import { CLOSED_PAGE, METRICS, METRICS_TYPE, OPEN_PAGE, serveOperator } from "./serve-operator.js";

/** Sends a GET with any Host header; undefined for none, as HTTP/1.0 allows. */
async function get(url: string, path: string, host: string): Promise<{ status: number | undefined; body: string }> {
  const { port } = new URL(url);
  const sent = requestHttp({ host: "127.0.0.1", port, path, headers: { host } });
  sent.end();
  const response = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve));
  return { status: response.statusCode, body: await text(response) };
}

const NOT_LOOPBACK =
  "this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE, or bind the operator's port to a loopback address";

describe.each(Object.entries(guardedCalls))("%s", (_protocol, call) => {
  test("is answered on a loopback address", async () => {
    const { url } = await serveOperator();
    expect(await call(url)).toMatchObject({ code: "ok" });
    expect(await call(url, "Bearer any")).toMatchObject({ code: "ok" });
  });

  test("is refused where the port is bound to all addresses", async () => {
    const { port } = new URL((await serveOperator({ host: "0.0.0.0" })).url);
    expect(await call(`http://127.0.0.1:${port}`)).toEqual({
      code: Code.PermissionDenied,
      message: NOT_LOOPBACK,
      challenge: null,
    });
  });
});

test("a port that is bound to all addresses serves only metrics and warnings, to any host", async () => {
  const { url } = await serveOperator({ host: "0.0.0.0" });
  for (const host of ["prometheus.example:9464", "127.0.0.1"]) {
    for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, host)).status).toBe(200);
    for (const path of [OPEN_PAGE, CLOSED_PAGE, "/livez", "/", "/nothing"]) {
      const { status, body } = await get(url, path, host);
      expect({ path, status, body: JSON.parse(body) as unknown }).toEqual({
        path,
        status: 403,
        body: { error: NOT_LOOPBACK },
      });
    }
  }
});

const spellings = ["localhost", "LocalHost:9464", "127.0.0.1", "127.0.0.1:80", "127.8.9.10", "[::1]", "[::1]:9464"];
const foreign = [
  ..."evil.example localhost.evil.example 127.0.0.1.evil.example 127.evil.example 127.0.0.1@evil.example".split(" "),
  ..."evil.example:9464 0.0.0.0 10.0.0.1 128.0.0.1 127.0.0.256 [::2] [::1]x ::1 localhost:x localhost. 2130706433".split(
    " ",
  ),
];

describe("the host of a request on a loopback address", () => {
  test.each(spellings)("%s is served", async (host) => {
    const { url } = await serveOperator();
    for (const path of ["/livez", OPEN_PAGE, CLOSED_PAGE, "/metrics"]) {
      expect([path, (await get(url, path, host)).status]).toEqual([path, 200]);
    }
    expect((await get(url, "/nothing", host)).status).toBe(404);
    expect((await rawGrpc(url, { ":authority": host })).trailers["grpc-status"]).toBe("0");
  });

  test.each(foreign)("%s is refused", async (host) => {
    const { url } = await serveOperator();
    for (const path of ["/livez", OPEN_PAGE, CLOSED_PAGE, "/nothing"]) {
      const { status, body } = await get(url, path, host);
      expect([path, status]).toEqual([path, 403]);
      expect((JSON.parse(body) as { error: string }).error).toBe(
        "the host of the request must be localhost, an address in 127.0.0.0/8, or [::1], " +
          `but is "${host}"; set OFFLEDGER_OPERATOR_TOKEN_FILE for other names`,
      );
    }
  });

  test("counts over HTTP/2 too", async () => {
    const { url } = await serveOperator();
    const { headers } = await rawGrpc(url, { ":authority": "evil.example" });
    expect(headers).toMatchObject({ ":status": 200, "grpc-status": "7" });
    expect(decodeURIComponent(String(headers["grpc-message"]))).toContain('but is "evil.example"');
  });

  test("does not count for metrics and warnings", async () => {
    const { url } = await serveOperator();
    for (const path of ["/metrics", "/warnings"]) expect((await get(url, path, "evil.example")).status).toBe(200);
  });
});

test("localhost is a loopback address", async () => {
  const { url } = await serveOperator({ host: "localhost" });
  expect((await get(url, "/livez", "localhost")).status).toBe(200);
});

test("no response has headers of CORS", async () => {
  const { url } = await serveOperator();
  const origin = { origin: "https://evil.example" };
  const preflight = { ...origin, "access-control-request-method": "GET" };
  for (const path of ["/metrics", "/warnings", "/livez", OPEN_PAGE, "/nothing"]) {
    for (const init of [{ headers: origin }, { method: "OPTIONS", headers: preflight }]) {
      const { headers } = await fetch(url + path, init);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
});

test("metrics and warnings are served by GET under their exact paths", async () => {
  const { url } = await serveOperator();
  const metrics = await fetch(`${url}/metrics?name=x`);
  expect([metrics.status, metrics.headers.get("content-type"), await metrics.text()]).toEqual([
    200,
    METRICS_TYPE,
    METRICS,
  ]);
  const warnings = await fetch(`${url}/warnings`);
  expect([warnings.headers.get("content-type"), await warnings.text()]).toEqual([
    "application/json; charset=utf-8",
    '{"total":0}\n',
  ]);
  for (const [path, method] of [
    ["/metrics", "POST"],
    ["/metrics", "DELETE"],
    ["/metrics/", "GET"],
    ["/warnings", "PUT"],
  ] as const) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url + path, { method, ...(method === "GET" ? {} : { headers, body: "{" }) });
    expect([path, method, response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      path,
      method,
      404,
      "text/plain; charset=utf-8",
      "not found; use GET /metrics or GET /warnings\n",
    ]);
  }
  expect((await fetch(`${url}/metrics`, { method: "HEAD" })).status).toBe(404);
});

test("a failure of the metrics is 500 without a body", async () => {
  const exposition = {
    contentType: METRICS_TYPE,
    metrics: () => Promise.reject(new Error("secret")),
    warnings: { latest: () => undefined, list: () => Promise.resolve(undefined) },
  };
  const { url } = await serveOperator({ exposition });
  const metrics = await fetch(`${url}/metrics`);
  expect([metrics.status, await metrics.text()]).toEqual([500, ""]);
  const warnings = await fetch(`${url}/warnings`);
  expect([warnings.status, warnings.headers.get("retry-after"), await warnings.json()]).toEqual([
    503,
    "1",
    { error: "the first check of the registry is not finished yet" },
  ]);
});

test("the 17th connection is closed without a response", async () => {
  const { url } = await serveOperator();
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  onTestFinished(() => agent.destroy());
  const send = (by: Agent) =>
    new Promise<number | string | undefined>((resolve) => {
      requestHttp(`${url}/metrics`, { agent: by })
        .on("response", (response) => response.resume().on("end", () => resolve(response.statusCode)))
        .on("error", ({ message }) => resolve(message))
        .end();
    });
  // More requests than connections: all 16 are open at once.
  expect(await Promise.all(Array.from({ length: 32 }, () => send(agent)))).toEqual(Array(32).fill(200));
  const another = new Agent();
  onTestFinished(() => another.destroy());
  expect(await send(another)).toMatch(/ECONNRESET|socket hang up/);
});
