/** The operator's port of the running service. */
import { once } from "node:events";
import { Agent } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import { SettingError } from "../../../src/config/setting.js";
import { requestHttp1 } from "../../fixtures/http-requests.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { fileOf, METRICS, METRICS_TYPE, serveOperator, TOKEN } from "./serve-operator.js";

async function start(config: Partial<AppConfig>): Promise<App> {
  const app = await startApp({ ...quiet(), logRequests: "none", graceSeconds: 2, ...config });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  onTestFinished(close);
  return { ...app, close };
}

const statusOf = async (url = "", headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;

test("the public port has nothing of it, and needs no token of operators", async () => {
  const { url, metricsUrl } = await start({
    metricsPort: { host: "127.0.0.1", port: 0 },
    operatorTokenFile: await fileOf(TOKEN),
  });
  for (const [method, path] of [
    ["POST", "/api/offledger/v1/explain"],
    ["GET", "/console"],
    ["GET", "/metrics"],
    ["GET", "/warnings"],
  ] as const) {
    const response = await fetch(url + path, { method });
    const error = `nothing is served at ${method} ${path}`;
    expect([response.status, await response.json()]).toEqual([404, { error }]);
  }
  expect([await statusOf(`${url}/livez`), await statusOf(metricsUrl)]).toEqual([200, 401]);
  expect(await statusOf(metricsUrl, { authorization: `Bearer ${TOKEN}` })).toBe(200);
});

test.each([false, true])("probes ask it for health on every address; with a token: %s", async (hasToken) => {
  const operatorTokenFile = hasToken ? await fileOf(TOKEN) : undefined;
  const { metricsUrl = "" } = await start({
    metricsPort: { host: "0.0.0.0", port: 0 },
    ...(operatorTokenFile !== undefined && { operatorTokenFile }),
  });
  const { port } = new URL(metricsUrl);
  for (const path of ["/livez", "/readyz"]) {
    const response = await requestHttp1(`http://127.0.0.1:${port}`, path, { host: "pod.example" });
    expect([response.status, response.body]).toEqual([200, '{"status":"ok"}']);
  }
  const console = await requestHttp1(`http://127.0.0.1:${port}`, "/api/offledger/v1/console", { host: "pod.example" });
  expect(console.status).toBe(hasToken ? 401 : 403);
});

test("a token that is too short stops the start, and the error names the setting", async () => {
  const operatorTokenFile = await fileOf("0123456789abcde");
  const started = start({ metricsPort: { host: "127.0.0.1", port: 0 }, operatorTokenFile });
  await expect(started).rejects.toThrow(SettingError);
  await expect(started).rejects.toThrow(
    "OFFLEDGER_OPERATOR_TOKEN_FILE must be the path of a file with a token of at least 16 characters: " +
      `the token in ${operatorTokenFile} has 15 characters`,
  );
});

test("metrics are readable until the end of a shutdown", async () => {
  // A receiver of traces that never answers uses up the grace period.
  const receiver = createTcpServer().listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 }, sendsTraces: true });
  const { url, metricsUrl } = app;
  expect(await statusOf(`${url}/livez`)).toBe(200);
  let isClosed = false;
  const closing = app.close().then(() => (isClosed = true));
  const isRefused = () =>
    fetch(url).then(
      () => false,
      () => true,
    );
  await until("the public port is closed", isRefused);
  expect([await statusOf(metricsUrl), isClosed]).toEqual([200, false]);
  await closing;
  await expect(fetch(metricsUrl ?? "")).rejects.toThrow("fetch failed");
});

test("metrics and warnings are served by GET, and only so", async () => {
  const { url } = await serveOperator();
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    return [response.status, response.headers.get("content-type"), await response.text()];
  };
  expect(await read("/metrics?name=x")).toEqual([200, METRICS_TYPE, METRICS]);
  expect(await read("/warnings")).toEqual([200, "application/json; charset=utf-8", '{"total":0}\n']);
  for (const [path, method] of [
    ["/metrics", "POST"],
    ["/metrics", "DELETE"],
    ["/warnings", "PUT"],
  ] as const) {
    const { status, headers } = await fetch(url + path, { method, body: "{" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
});

test("a failure of the metrics is 500 without a body", async () => {
  const { url } = await serveOperator({
    exposition: {
      contentType: METRICS_TYPE,
      metrics: () => Promise.reject(new Error("secret")),
      warnings: { latest: () => undefined, list: () => Promise.resolve(undefined) },
    },
  });
  const metrics = await fetch(`${url}/metrics`);
  expect([metrics.status, await metrics.text()]).toEqual([500, ""]);
  const warnings = await fetch(`${url}/warnings`);
  const error = "the first check of the registry is not finished yet";
  expect([warnings.status, warnings.headers.get("retry-after"), await warnings.json()]).toEqual([503, "1", { error }]);
});

test("the 17th connection is closed without a response", async () => {
  const { url } = await serveOperator();
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const another = new Agent();
  onTestFinished(() => [agent, another].forEach((one) => one.destroy()));
  const send = async (by: Agent) => (await requestHttp1(url, "/metrics", {}, undefined, by)).status;
  // More requests than connections: all 16 are open at once.
  expect(await Promise.all(Array.from({ length: 32 }, () => send(agent)))).toEqual(Array(32).fill(200));
  await expect(send(another)).rejects.toThrow(/ECONNRESET|socket hang up/);
});
