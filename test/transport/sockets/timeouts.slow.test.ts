/** The time limits of the one port, over both versions of HTTP, in cleartext and over TLS. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Certificate } from "../../../src/transport/certificate.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { createCertificates, hasOpenssl } from "../../fixtures/certificates.js";
import { encodeRequest, largeResponseServices } from "../../fixtures/large-responses.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { within } from "../../fixtures/wait.js";

/** Instead of 72 s, 20 s, and a millisecond for 64 bytes. */
vi.mock("../../../src/transport/limits.js", async (original) => ({
  ...(await original<object>()),
  IDLE_MS: 1_500,
  STALLED_MS: 1_000,
  STALLED_BYTES_PER_MS: 1_000_000,
}));
const REQUEST_MS = 1_000;
const BOUND_MS = 15_000;
/** More than the kernel takes for a client that does not read. */
const LARGE = encodeRequest({ form: "REST", id: "large.20000000" });
const SMALL = encodeRequest({ form: "REST", id: "small.10" });

const head = ({ path, body }: typeof LARGE) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;

describe.each(hasOpenssl ? ["cleartext", "TLS"] : ["cleartext"])("in %s", (kind) => {
  let server: Server;
  let url: string;
  let ca: string | undefined;
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));

  beforeAll(async () => {
    let certificate: Certificate | undefined;
    if (kind === "TLS") {
      const made = createCertificates();
      ca = made.ca;
      const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
      writeFileSync(certFile, made.cert);
      writeFileSync(keyFile, made.key);
      certificate = await Certificate.read(certFile, keyFile);
    }
    const connections = { ...TEST_SERVER_OPTIONS.connections, requestMs: REQUEST_MS };
    server = await createServer(largeResponseServices, { ...TEST_SERVER_OPTIONS, connections, certificate });
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server.close(100);
  });

  async function connect(protocol: "http/1.1" | "h2"): Promise<net.Socket> {
    const { hostname, port } = new URL(url);
    const at = { host: hostname, port: Number(port) };
    const socket = ca === undefined ? net.connect(at) : tls.connect({ ...at, ca, ALPNProtocols: [protocol] });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    await once(socket, ca === undefined ? "connect" : "secureConnect");
    return socket;
  }

  /** Waits until the service has closed the connection, however the client behaves. */
  async function expectClosed({ localPort }: net.Socket): Promise<void> {
    expect(localPort).toBeDefined();
    await within(BOUND_MS, "the service has closed it", untilDisconnected(url, localPort));
  }

  async function sessionOf(settings: http2.Settings = {}) {
    const socket = await connect("h2");
    const session = http2.connect(url, { settings, createConnection: () => socket });
    session.on("error", () => undefined);
    onTestFinished(() => session.destroy());
    await once(session, "remoteSettings");
    return { session, socket };
  }

  test.each([
    ["headers that do not end", "POST / HTTP/1.1\r\nX: ", "a"],
    ["a body that does not end", head({ ...LARGE, body: Buffer.alloc(100_000) }), " "],
  ])("over HTTP/1.1: %s", async (_what, begin, rest) => {
    const socket = await connect("http/1.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.write(begin);
    const sending = setInterval(() => socket.write(rest), 50);
    onTestFinished(() => clearInterval(sending));
    await expectClosed(socket);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("over HTTP/1.1: an idle connection", async () => {
    const socket = await connect("http/1.1");
    socket.write(head(SMALL) + SMALL.body.toString());
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    await expectClosed(socket);
  });

  test("over HTTP/1.1: an unread response", async () => {
    const socket = await connect("http/1.1");
    socket.pause();
    socket.write(head(LARGE) + LARGE.body.toString());
    await expectClosed(socket);
  });

  test("over HTTP/2: a body that does not end gets 408, and the session stays", async () => {
    const { session } = await sessionOf();
    const { path } = LARGE;
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.on("error", () => undefined);
    const sending = setInterval(() => stream.closed || stream.write(" "), 50);
    onTestFinished(() => clearInterval(sending));
    const [headers] = (await within(BOUND_MS, "the response", once(stream, "response"))) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(408);
    expect(session.closed).toBe(false);
  });

  test("over HTTP/2: an idle session", async () => {
    const { socket } = await sessionOf();
    await expectClosed(socket);
  });

  test("over HTTP/2: an unread response", async () => {
    const { session } = await sessionOf({ initialWindowSize: 0 });
    const { path, body } = LARGE;
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.on("error", () => undefined).end(body);
    await within(BOUND_MS, "the stream is reset", once(stream, "close"));
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });

  test("a client that stalls for less gets its response", async () => {
    const { session } = await sessionOf({ initialWindowSize: 0 });
    const { path, body } = SMALL;
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.end(body);
    await once(stream, "response");
    await new Promise((resolve) => setTimeout(resolve, 300));
    session.settings({ initialWindowSize: 100_000 });
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    expect(JSON.parse(text)).toHaveProperty("choiceContextData");
    expect(countConnections(url)).toBeGreaterThan(0);
  });
});
