/** The operator's port of the running service. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import { SettingError } from "../../../src/config/setting-error.js";
import { Certificate } from "../../../src/transport/certificate.js";
import { createCertificates, hasOpenssl, type Certificates } from "../../fixtures/certificates.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { fileOf, serveOperator, TOKEN } from "./serve-operator.js";

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

  test("without the port the token is not read", async () => {
    expect((await start({ operatorTokenFile: "/missing" })).metricsUrl).toBeUndefined();
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

async function filesOf({ cert, key }: Certificates) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-operator-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = { tlsCertFile: join(folder, "cert.pem"), tlsKeyFile: join(folder, "key.pem") };
  await writeFile(files.tlsCertFile, cert);
  await writeFile(files.tlsKeyFile, key);
  return files;
}

const polledFiles = () => process.getActiveResourcesInfo().filter((name) => name === "StatWatcher").length;

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

  test("a certificate that two ports have watched is not polled after its end", async () => {
    const { tlsCertFile, tlsKeyFile } = await filesOf(createCertificates());
    const certificate = await Certificate.read(tlsCertFile, tlsKeyFile);
    const before = polledFiles();
    const servers = [await serveOperator({ certificate }), await serveOperator({ certificate })];
    expect(polledFiles()).toBe(before + 2);
    for (const server of servers) await server.close();
    expect(polledFiles()).toBe(before);
  });

  test("gRPC needs the token", async () => {
    const own = createCertificates();
    const { tlsCertFile, tlsKeyFile } = await filesOf(own);
    const certificate = await Certificate.read(tlsCertFile, tlsKeyFile);
    const { url } = await serveOperator({ certificate, tokenFile: await fileOf(TOKEN) });
    const transport = createGrpcTransport({ baseUrl: url, nodeOptions: { ca: own.ca } });
    const client = createClient(HealthService, transport);
    await expect(client.getLiveness({})).rejects.toThrow("[unauthenticated]");
    expect(await client.getLiveness({}, { headers: { authorization: `Bearer ${TOKEN}` } })).toMatchObject({
      status: "ok",
    });
  });
});
