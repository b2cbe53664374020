/** The port by TLS, with the certificates of an own authority: both versions of HTTP, and certificates that change. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import tls from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import { canCertify, certify, type Certified } from "../../fixtures/certificates.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";

/** Files of a certificate, and a service that uses them. */
interface Serving {
  readonly app: App;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
}

async function serving({ cert, key }: Certified): Promise<Serving & { close(): Promise<void> }> {
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

/** The fingerprint of the certificate that a new connection is shown, and the protocol agreed on. */
async function greeted(port: number, ca: string, ALPNProtocols = ["h2", "http/1.1"]) {
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

describe.skipIf(!canCertify)("by TLS", () => {
  let certified: Certified;
  let served: Awaited<ReturnType<typeof serving>>;
  beforeAll(async () => {
    certified = certify();
    served = await serving(certified);
  });
  afterAll(() => served.close());

  test("the address told is one of https", () => {
    expect(served.app.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  test.each([
    [["h2", "http/1.1"], "h2"],
    [["http/1.1"], "http/1.1"],
    [["http/1.1", "h2"], "h2"],
  ])("of %j %s is agreed on", async (offered, agreed) => {
    expect((await greeted(served.port, certified.ca, offered)).protocol).toBe(agreed);
  });

  test("HTTP/1.1 answers, also to whoever agrees on nothing", async () => {
    const { ca } = certified;
    const body = '{"status":"ok"}';
    expect(await get(`${served.app.url}/livez`, { ca })).toEqual({ status: 200, body });
    expect(await get(`${served.app.url}/livez`, { ca, ALPNProtocols: [] })).toEqual({ status: 200, body });
  });

  test("who says that no more will come with the request itself is answered", async () => {
    const body = "{}";
    const head = `POST /offledger.health.v1.HealthService/GetLiveness HTTP/1.1\r\nhost: a\r\ncontent-type: application/json`;
    for (let time = 0; time < 20; time++) {
      const socket = tls.connect({
        host: "127.0.0.1",
        port: served.port,
        ca: certified.ca,
        ALPNProtocols: ["http/1.1"],
      });
      await once(socket, "secureConnect");
      // The end goes with the request, in one packet.
      socket.end(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
  });

  test("HTTP/2 answers", async () => {
    const session = http2.connect(served.app.url, { ca: certified.ca });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/livez" });
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
  });

  test.each([
    [
      "Connect",
      (baseUrl: string, ca: string) => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { ca } }),
    ],
    [
      "Connect over HTTP/2",
      (baseUrl: string, ca: string) => createConnectTransport({ baseUrl, httpVersion: "2", nodeOptions: { ca } }),
    ],
    ["gRPC", (baseUrl: string, ca: string) => createGrpcTransport({ baseUrl, nodeOptions: { ca } })],
    [
      "gRPC-Web",
      (baseUrl: string, ca: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { ca } }),
    ],
  ])("%s answers", async (_name, transport) => {
    const client = createClient(HealthService, transport(served.app.url, certified.ca));
    expect((await client.getLiveness({})).status).toBe("ok");
  });

  test("whoever does not trust the authority gets no answer", async () => {
    await expect(get(`${served.app.url}/livez`, {})).rejects.toMatchObject({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
  });

  test("versions of TLS before 1.2 are none", async () => {
    const socket = tls.connect({
      host: "127.0.0.1",
      port: served.port,
      ca: certified.ca,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "ALL:@SECLEVEL=0",
    });
    const [error] = (await once(socket, "error")) as [Error & { code: string }];
    expect(error.code).toMatch(/PROTOCOL|ALERT|UNSUPPORTED/);
  });

  test("whoever speaks in cleartext loses the connection, and nobody else", async () => {
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

describe.skipIf(!canCertify)("a certificate that changes", () => {
  test("is shown to new connections, and those that are there go on", async () => {
    const [old, fresh] = [certify(), certify()];
    const served = await serving(old);
    onTestFinished(() => served.close());
    const before = await greeted(served.port, old.ca);
    const session = http2.connect(served.app.url, { ca: old.ca });
    onTestFinished(() => session.destroy());
    await once(session, "connect");
    // One file before the other: until both are there they do not fit, and the old pair goes on.
    writeFileSync(served.certFile, fresh.cert);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await greeted(served.port, old.ca)).toEqual(before);
    writeFileSync(served.keyFile, fresh.key);
    await until("the new certificate is shown", () =>
      greeted(served.port, fresh.ca).then(
        () => true,
        () => false,
      ),
    );
    await expect(greeted(served.port, old.ca)).rejects.toThrow("unable to verify");
    const stream = session.request({ ":path": "/livez" });
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
  });
});

describe.skipIf(!canCertify)("the start ends with a sentence that names the file", () => {
  const { cert, key } = canCertify ? certify() : { cert: "", key: "" };
  const other = canCertify ? certify() : { cert: "", key: "" };
  test.each([
    ["a certificate that is none", "nonsense", key, "cert.pem and "],
    ["a key that is none", cert, "nonsense", "cert.pem and "],
    ["a key of another certificate", cert, other.key, "KEY_VALUES_MISMATCH"],
  ])("%s", async (_what, certText, keyText, told) => {
    const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [tlsCertFile, tlsKeyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(tlsCertFile, certText);
    writeFileSync(tlsKeyFile, keyText);
    const start = startApp({ ...quiet(), tlsCertFile, tlsKeyFile });
    await expect(start).rejects.toThrow(told);
    await expect(start).rejects.toMatchObject({ name: "SettingError" });
  });

  test("a file that is not there", async () => {
    const start = startApp({ ...quiet(), tlsCertFile: "/nowhere/cert.pem", tlsKeyFile: "/nowhere/key.pem" });
    await expect(start).rejects.toThrow(
      "OFFLEDGER_TLS_CERT_FILE must be the path of a PEM file: /nowhere/cert.pem cannot be read (ENOENT)",
    );
  });
});

test.skipIf(!canCertify)("the service closes at once beside a handshake that never ends", async () => {
  const served = await serving(certify());
  const socket = net.connect(served.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  await greeted(served.port, "").catch(() => undefined);
  const begun = performance.now();
  await served.close();
  expect(performance.now() - begun).toBeLessThan(4_000);
});
