/** TLS with certificates of a private CA, on both ports: both HTTP versions, and certificate reload. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import { health } from "../../../src/service/health.js";
import { readCertificate } from "../../../src/transport/sockets.js";
import { createServer } from "../../../src/transport/server.js";
import { hasOpenssl, createCertificates, type Certificates } from "../../fixtures/certificates.js";
import { countConnections } from "../../fixtures/raw-connection.js";
import { quiet } from "../../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

function filesOf({ cert, key }: Pick<Certificates, "cert" | "key">) {
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
  folders.push(folder);
  const files = { tlsCertFile: join(folder, "cert.pem"), tlsKeyFile: join(folder, "key.pem") };
  writeFileSync(files.tlsCertFile, cert);
  writeFileSync(files.tlsKeyFile, key);
  return files;
}
const startWith = (files: ReturnType<typeof filesOf>): Promise<App> =>
  startApp({ ...quiet(), metricsPort: { host: "127.0.0.1", port: 0 }, ...files });

/** The serial number of the certificate that a new connection gets, and the negotiated protocol. */
async function handshake(url: string, ca: string, ALPNProtocols?: string[]) {
  const socket = tls.connect({
    host: "127.0.0.1",
    port: Number(new URL(url).port),
    ca,
    ...(ALPNProtocols && { ALPNProtocols }),
  });
  try {
    await once(socket, "secureConnect");
    return { serial: socket.getPeerCertificate().serialNumber, protocol: socket.alpnProtocol };
  } finally {
    socket.destroy();
  }
}

describe.skipIf(!hasOpenssl)("over TLS", () => {
  let ca: string;
  let app: App;
  beforeAll(async () => {
    const certificates = createCertificates();
    ({ ca } = certificates);
    app = await startWith(filesOf(certificates));
  });
  afterAll(() => app.close());

  test("ALPN selects HTTP/2 where it is offered", async () => {
    expect((await handshake(app.url, ca, ["h2", "http/1.1"])).protocol).toBe("h2");
    expect((await handshake(app.url, ca, ["http/1.1"])).protocol).toBe("http/1.1");
    // Without ALPN.
    expect((await handshake(app.url, ca)).protocol).toBe(false);
  });

  test("Connect over HTTP/1.1 and gRPC work", async () => {
    const nodeOptions = { ca };
    for (const transport of [
      createConnectTransport({ baseUrl: app.url, httpVersion: "1.1", nodeOptions }),
      createGrpcTransport({ baseUrl: app.url, nodeOptions }),
    ]) {
      const { message } = await transport.unary(HealthService.method.getLiveness, undefined, undefined, undefined, {});
      expect(message).toMatchObject({ status: "ok" });
    }
  });

  test("a cleartext client loses only its connection", async () => {
    const socket = net.connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(socket, "close");
    expect(Buffer.concat(chunks).toString()).not.toContain("HTTP/1.1");
    await handshake(app.url, ca);
  });
});

describe.skipIf(!hasOpenssl)("a client over TLS", () => {
  let url: string;
  beforeAll(async () => {
    const files = filesOf(createCertificates());
    const server = await createServer([health(() => undefined)], {
      ...TEST_SERVER_OPTIONS,
      certificate: await readCertificate(files.tlsCertFile, files.tlsKeyFile),
      // Whoever is kept until then stays longer than the test.
      connections: { ...TEST_SERVER_OPTIONS.connections, negotiationMs: 600_000 },
    });
    url = await server.listen("127.0.0.1", 0);
    return () => server.close(100);
  });

  const connect = (options: tls.ConnectionOptions): tls.TLSSocket =>
    tls
      .connect({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false, ...options })
      .on("error", () => undefined);

  describe.each([["h2"], ["http/1.1"], []])("with ALPN %j", (...ALPNProtocols) => {
    test.each<[how: string, leave: (socket: tls.TLSSocket) => void]>([
      ["ends after the handshake", (socket) => socket.once("secureConnect", () => socket.end())],
      ["closes its connection after the handshake", (socket) => socket.once("secureConnect", () => socket.destroy())],
      ["ends within the handshake", (socket) => socket.end()],
      ["closes its connection within it", (socket) => socket.once("connect", () => socket.destroy())],
    ])("that %s is gone at once", async (_how, leave) => {
      const socket = connect({ ALPNProtocols });
      leave(socket);
      await once(socket, "close");
      await until("the service holds it no longer", () => countConnections(url) === 0);
      expect(socket.closed).toBe(true);
    });
  });

  test("of HTTP/1.1 may end before it has its response", async () => {
    const socket = connect({ ALPNProtocols: ["http/1.1"], allowHalfOpen: true } as tls.ConnectionOptions);
    socket.end("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    let received = "";
    for await (const chunk of socket) received += String(chunk);
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

test.skipIf(!hasOpenssl)(
  "a changed certificate is served to new connections of both ports; established ones stay",
  async () => {
    const [old, fresh] = [createCertificates(), createCertificates()];
    const files = filesOf(old);
    const app = await startWith(files);
    onTestFinished(() => app.close());
    expect(app.metricsUrl).toMatch(/^https:/);
    const before = await handshake(app.url, old.ca);
    const session = http2.connect(app.url, { ca: old.ca });
    onTestFinished(() => session.destroy());
    await once(session, "connect");
    // One file before the other: the old pair is served until both match.
    writeFileSync(files.tlsCertFile, fresh.cert);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await handshake(app.url, old.ca)).toEqual(before);
    writeFileSync(files.tlsKeyFile, fresh.key);
    for (const url of [app.url, app.metricsUrl ?? ""]) {
      await until("the new certificate is served", () =>
        handshake(url, fresh.ca).then(
          () => true,
          () => false,
        ),
      );
      await expect(handshake(url, old.ca)).rejects.toThrow("unable to verify");
    }
    const [headers] = (await once(session.request({ ":path": "/livez" }), "response")) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
  },
);

describe.skipIf(!hasOpenssl)("the start fails and names the file", () => {
  const [{ cert, key }, other] = hasOpenssl
    ? [createCertificates(), createCertificates()]
    : [{ cert: "", key: "" }, { key: "" }];
  const missing = { tlsCertFile: "/nowhere/cert.pem", tlsKeyFile: "/nowhere/key.pem" };
  test.each([
    ["a malformed certificate", () => filesOf({ cert: "nonsense", key }), "cert.pem and "],
    ["a key of another certificate", () => filesOf({ cert, key: other.key }), "KEY_VALUES_MISMATCH"],
    [
      "a missing file",
      () => missing,
      "OFFLEDGER_TLS_CERT_FILE must be the path of a PEM file: /nowhere/cert.pem cannot be read (ENOENT)",
    ],
  ])("%s", async (_what, files, message) => {
    const start = startWith(files());
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toMatchObject({ name: "SettingError" });
  });
});
