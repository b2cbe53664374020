/** TLS with certificates of a private CA: both HTTP versions, and certificate reload. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import { hasOpenssl, createCertificates, type Certificates } from "../../fixtures/certificates.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";

/** A service and the files of its certificate. */
interface TlsService {
  readonly app: App;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
}

async function startService({ cert, key }: Certificates): Promise<TlsService & { close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
  const [tlsCertFile, tlsKeyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(tlsCertFile, cert);
  writeFileSync(tlsKeyFile, key);
  const app = await startApp({ ...quiet(), tlsCertFile, tlsKeyFile });
  const close = async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  };
  return { app, port: Number(new URL(app.url).port), certFile: tlsCertFile, keyFile: tlsKeyFile, close };
}

/** The serial number of the certificate that a new connection gets, and the negotiated protocol. */
async function handshake(port: number, ca: string, ALPNProtocols = ["h2", "http/1.1"]) {
  const socket = tls.connect({ host: "127.0.0.1", port, ca, ALPNProtocols });
  try {
    await once(socket, "secureConnect");
    return { serial: socket.getPeerCertificate().serialNumber, protocol: socket.alpnProtocol };
  } finally {
    socket.destroy();
  }
}

const get = (
  url: string,
  options: https.RequestOptions & tls.CommonConnectionOptions,
): Promise<{ status: number | undefined; body: string }> =>
  new Promise((resolve, reject) => {
    https
      .get(url, options, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode, body }));
      })
      .on("error", reject);
  });

describe.skipIf(!hasOpenssl)("over TLS", () => {
  let certified: Certificates;
  let served: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    certified = createCertificates();
    served = await startService(certified);
  });
  afterAll(() => served.close());

  test.each([
    [["h2", "http/1.1"], "h2"],
    [["http/1.1"], "http/1.1"],
  ])("ALPN with %j selects %s", async (offered, agreed) => {
    expect((await handshake(served.port, certified.ca, offered)).protocol).toBe(agreed);
  });

  test("HTTP/1.1 works, also without ALPN", async () => {
    const { ca } = certified;
    const body = '{"status":"ok"}';
    expect(await get(`${served.app.url}/livez`, { ca })).toEqual({ status: 200, body });
    expect(await get(`${served.app.url}/livez`, { ca, ALPNProtocols: [] })).toEqual({ status: 200, body });
  });

  test.each([
    [
      "Connect",
      (baseUrl: string, ca: string) => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { ca } }),
    ],
    ["gRPC", (baseUrl: string, ca: string) => createGrpcTransport({ baseUrl, nodeOptions: { ca } })],
  ])("%s works", async (_name, transport) => {
    const client = createClient(HealthService, transport(served.app.url, certified.ca));
    expect((await client.getLiveness({})).status).toBe("ok");
  });

  test("a cleartext client loses only its connection", async () => {
    const socket = net.connect(served.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(socket, "close");
    expect(Buffer.concat(chunks).toString()).not.toContain("HTTP/1.1");
    expect((await get(`${served.app.url}/livez`, { ca: certified.ca })).status).toBe(200);
  });
});

describe.skipIf(!hasOpenssl)("a changed certificate", () => {
  test("is served to new connections; established ones stay", async () => {
    const [old, fresh] = [createCertificates(), createCertificates()];
    const served = await startService(old);
    onTestFinished(() => served.close());
    const before = await handshake(served.port, old.ca);
    const session = http2.connect(served.app.url, { ca: old.ca });
    onTestFinished(() => session.destroy());
    await once(session, "connect");
    // One file before the other: the old pair is served until both match.
    writeFileSync(served.certFile, fresh.cert);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await handshake(served.port, old.ca)).toEqual(before);
    writeFileSync(served.keyFile, fresh.key);
    await until("the new certificate is served", () =>
      handshake(served.port, fresh.ca).then(
        () => true,
        () => false,
      ),
    );
    await expect(handshake(served.port, old.ca)).rejects.toThrow("unable to verify");
    const stream = session.request({ ":path": "/livez" });
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
  });
});

describe.skipIf(!hasOpenssl)("the start fails and names the file", () => {
  const { cert, key } = hasOpenssl ? createCertificates() : { cert: "", key: "" };
  const other = hasOpenssl ? createCertificates() : { cert: "", key: "" };
  test.each([
    ["a malformed certificate", "nonsense", key, "cert.pem and "],
    ["a key of another certificate", cert, other.key, "KEY_VALUES_MISMATCH"],
  ])("%s", async (_what, certText, keyText, message) => {
    const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [tlsCertFile, tlsKeyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(tlsCertFile, certText);
    writeFileSync(tlsKeyFile, keyText);
    const start = startApp({ ...quiet(), tlsCertFile, tlsKeyFile });
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toMatchObject({ name: "SettingError" });
  });

  test("a missing file", async () => {
    const start = startApp({ ...quiet(), tlsCertFile: "/nowhere/cert.pem", tlsKeyFile: "/nowhere/key.pem" });
    await expect(start).rejects.toThrow(
      "OFFLEDGER_TLS_CERT_FILE must be the path of a PEM file: /nowhere/cert.pem cannot be read (ENOENT)",
    );
  });
});
