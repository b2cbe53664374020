/** The operator's port of the running service. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request as requestHttp } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import { SettingError } from "../../../src/config/setting.js";
import { createCertificates, hasOpenssl, type Certificates } from "../../fixtures/certificates.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { fileOf, METRICS, METRICS_TYPE, serveOperator, TOKEN } from "./serve-operator.js";

async function start(config: Partial<Config>): Promise<App> {
  const app = await startApp({ ...quiet(), logRequests: "none", graceSeconds: 2, ...config });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  onTestFinished(close);
  return { ...app, close };
}

const statusOf = async (url: string | undefined, headers: Record<string, string> = {}) =>
  (await fetch(url ?? "", { headers })).status;

describe("the public port", () => {
  test.each([
    ["POST", "/api/offledger/v1/explain"],
    ["GET", "/console"],
    ["GET", "/metrics"],
    ["GET", "/warnings"],
  ])("answers 404 to %s %s", async (method, path) => {
    const { url } = await start({ metricsPort: 0 });
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: `nothing is served at ${method} ${path}` },
    ]);
  });

  test("needs no token of operators", async () => {
    const { url, metricsUrl } = await start({ metricsPort: 0, operatorTokenFile: await fileOf(TOKEN) });
    expect(await statusOf(`${url}/livez`)).toBe(200);
    expect(await statusOf(metricsUrl)).toBe(401);
    expect(await statusOf(metricsUrl, { authorization: `Bearer ${TOKEN}` })).toBe(200);
  });
});

describe("the settings", () => {
  test("a token that is too short stops the start, and the error names the setting", async () => {
    const operatorTokenFile = await fileOf("0123456789abcde");
    const started = start({ metricsPort: 0, operatorTokenFile });
    await expect(started).rejects.toThrow(SettingError);
    await expect(started).rejects.toThrow(
      "OFFLEDGER_OPERATOR_TOKEN_FILE must be the path of a file with a token of at least 16 characters: " +
        `the token in ${operatorTokenFile} has 15 characters`,
    );
  });
});

test("metrics are readable until the end of a shutdown", async () => {
  // A receiver of traces that never answers uses up the grace period.
  const receiver = createTcpServer().listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const tracesUrl = new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/traces`);
  const app = await start({ metricsPort: 0, tracesUrl });
  const { url, metricsUrl } = app;
  expect(await statusOf(`${url}/livez`)).toBe(200);
  let isClosed = false;
  const closing = app.close().then(() => (isClosed = true));
  await until("the public port is closed", () =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );
  expect(await statusOf(metricsUrl)).toBe(200);
  expect(isClosed).toBe(false);
  await closing;
  await expect(fetch(metricsUrl ?? "")).rejects.toThrow("fetch failed");
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

async function filesOf({ cert, key }: Certificates) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-operator-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = { tlsCertFile: join(folder, "cert.pem"), tlsKeyFile: join(folder, "key.pem") };
  await writeFile(files.tlsCertFile, cert);
  await writeFile(files.tlsKeyFile, key);
  return files;
}

/** The status of a GET, and the serial number of the certificate. A new connection for each. */
const get = (url: string, options: https.RequestOptions): Promise<{ status: number | undefined; serial: string }> =>
  new Promise((resolve, reject) => {
    https
      .get(url, { agent: false, ...options }, (response) => {
        const { serialNumber: serial } = (response.socket as TLSSocket).getPeerCertificate();
        response.resume().on("end", () => resolve({ status: response.statusCode, serial }));
      })
      .on("error", reject);
  });

describe.skipIf(!hasOpenssl)("with TLS", () => {
  test("both ports have the certificate, also the next one", async () => {
    const [first, second] = [createCertificates(), createCertificates()];
    const files = await filesOf(first);
    const { url, metricsUrl = "" } = await start({ metricsPort: 0, ...files });
    expect(metricsUrl).toMatch(/^https:/);
    const { status, serial } = await get(metricsUrl, { ca: first.ca });
    expect(status).toBe(200);
    await expect(fetch(metricsUrl.replace("https:", "http:"))).rejects.toThrow("fetch failed");
    await writeFile(files.tlsCertFile, second.cert);
    await writeFile(files.tlsKeyFile, second.key);
    for (const port of [metricsUrl, `${url}/livez`]) {
      await until(
        "new connections get the new certificate",
        async () => (await get(port, { rejectUnauthorized: false })).serial !== serial,
      );
      expect(await get(port, { ca: second.ca })).toMatchObject({ status: 200 });
    }
  });
});
