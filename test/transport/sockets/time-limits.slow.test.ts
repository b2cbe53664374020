/** The time limits of the one port: each over both versions of HTTP, in cleartext and over TLS. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Certificate, readCertificate } from "../../../src/transport/sockets.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { createCertificates, hasOpenssl } from "../../fixtures/certificates.js";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  PREFACE,
  requestHeaders,
  settings,
  Type,
} from "../../fixtures/http2-frames.js";
import { largeRequest, largeResponseServices } from "../../fixtures/large-responses.js";
import { countConnections } from "../../fixtures/raw-connection.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

/** Each limit is one that no other test waits for: one limit for another's is found. */
const LIMITS = { negotiationMs: 700, requestMs: 1_500, idleMs: 3_000, stalledMs: 2_200 };
/** Beyond the limit, before the next: a busy machine and the interval of Node.js's own check. */
const BOUND_MS = 20_000;
const PERIOD_MS = 100;
/** More than the kernel takes for a client that does not read. */
const LARGE = largeRequest("large.20000000");
const SMALL = largeRequest("small.10");
const JSON_TYPE = { "content-type": "application/json" };

/** What a client sends: at once, and then again and again. */
interface Client {
  readonly begin: string | Buffer;
  readonly again?: string | Buffer;
  /** The limit that ends it. */
  readonly limit: number;
  /** Whether it reads nothing. */
  readonly isPaused?: boolean;
  /** What it has received at the end. */
  readonly received?: RegExp | string;
  /** Whether the connection stays, and only the stream ends. */
  readonly keepsConnection?: boolean;
}

const http1 = ({ path, body }: typeof LARGE) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
const start = (window = 2 ** 31 - 1) => Buffer.concat([PREFACE, settings({ 4: window })]);
const headers = (path: string, flags: number) => frame(Type.headers, flags, 1, requestHeaders(path, JSON_TYPE));
const http2 = ({ path }: typeof LARGE) =>
  Buffer.concat([headers(path, END_HEADERS), frame(Type.data, END_STREAM, 1, "{}")]);

const BROKEN = frame(Type.data, 0, 0, "broken");

const clients: Readonly<Record<"http/1.1" | "h2", Readonly<Record<string, Client>>>> = {
  "http/1.1": {
    "sends nothing": { begin: "", limit: LIMITS.negotiationMs },
    "slow headers": {
      begin: "POST / HTTP/1.1\r\nX: ",
      again: "a",
      limit: LIMITS.requestMs,
      received: /^HTTP\/1\.1 408 /,
    },
    "slow body": {
      begin: http1({ ...SMALL, body: Buffer.alloc(100_000) }),
      again: " ",
      limit: LIMITS.requestMs,
      received: /^HTTP\/1\.1 408 .*request not received within 1\.5 seconds/s,
    },
    "idle connection": { begin: `${http1(SMALL)}{}`, limit: LIMITS.idleMs, received: /^HTTP\/1\.1 200 / },
    "unread response": { begin: `${http1(LARGE)}{}`, limit: LIMITS.stalledMs, isPaused: true },
  },
  h2: {
    "sends nothing": { begin: "PR", limit: LIMITS.negotiationMs },
    // There is no request before its headers are complete; nghttp2 allows few CONTINUATION frames.
    "slow headers": {
      begin: Buffer.concat([start(), frame(Type.headers, END_HEADERS, 1, Buffer.alloc(4_000)).subarray(0, 9)]),
      again: "\0",
      limit: LIMITS.idleMs,
    },
    "slow body": {
      begin: Buffer.concat([start(), headers(SMALL.path, END_HEADERS)]),
      again: frame(Type.data, 0, 1, " "),
      limit: LIMITS.requestMs,
      received: /request not received within 1\.5 seconds/,
      keepsConnection: true,
    },
    "idle connection": { begin: Buffer.concat([start(), http2(SMALL)]), limit: LIMITS.idleMs, received: /small/ },
    // DATA of no stream ends a connection; Node.js leaves its socket open.
    "broken connection": { begin: Buffer.concat([start(), BROKEN]), limit: 0 },
    "broken connection with a request": {
      begin: Buffer.concat([start(), headers(SMALL.path, END_HEADERS), BROKEN]),
      limit: 0,
    },
    "broken connection with a response": { begin: Buffer.concat([start(0), http2(SMALL), BROKEN]), limit: 0 },
    "unread response": {
      begin: Buffer.concat([start(0), http2(LARGE)]),
      limit: LIMITS.stalledMs,
      // RST_STREAM with CANCEL.
      received: "\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08",
      keepsConnection: true,
    },
  },
};

describe.each(hasOpenssl ? ["cleartext", "TLS"] : ["cleartext"])("in %s", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
  let server: Server;
  let url: string;
  let ca: string | undefined;

  async function serve(): Promise<readonly [Server, string]> {
    let certificate: Certificate | undefined;
    if (kind === "TLS") {
      const made = createCertificates();
      ca = made.ca;
      const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
      writeFileSync(certFile, made.cert);
      writeFileSync(keyFile, made.key);
      certificate = await readCertificate(certFile, keyFile);
    }
    const connections = { ...TEST_SERVER_OPTIONS.connections, ...LIMITS };
    const served = await createServer(largeResponseServices, { ...TEST_SERVER_OPTIONS, connections, certificate });
    return [served, await served.listen("127.0.0.1", 0)];
  }
  beforeAll(async () => {
    [server, url] = await serve();
  });
  afterAll(async () => {
    await server.close(100);
    rmSync(folder, { recursive: true });
  });

  async function connect(to: string, protocol: string, isTls = kind === "TLS") {
    const { hostname, port } = new URL(to);
    const at = { host: hostname, port: Number(port) };
    const socket = isTls ? tls.connect({ ...at, ca: ca ?? "", ALPNProtocols: [protocol] }) : net.connect(at);
    socket.on("error", () => undefined);
    await once(socket, isTls ? "secureConnect" : "connect");
    return socket;
  }

  const cases = Object.entries(clients).flatMap(([protocol, all]) =>
    Object.entries(all).map(([what, client]) => ({ protocol, what, client })),
  );
  // Each waits for a limit of its own connection.
  test.concurrent.for(cases)("$protocol: $what", async ({ protocol, what, client }, { expect, onTestFinished }) => {
    // Before TLS there is no byte of HTTP.
    const socket = await connect(url, protocol, kind === "TLS" && what !== "sends nothing");
    onTestFinished(() => void socket.destroy());
    const { localPort } = socket;
    await until("the service has the connection", () => countConnections(url, localPort) === 1);
    const begun = performance.now();
    let received = "";
    if (client.isPaused === true) socket.pause();
    else socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
    socket.write(client.begin);
    // Up to the limit: what is written to a closed connection resets it, and the client may lose what it has not read.
    const sending = setInterval(() => {
      if (client.again !== undefined && performance.now() - begun < client.limit) socket.write(client.again);
    }, PERIOD_MS);
    onTestFinished(() => clearInterval(sending));
    const isOver = () =>
      received.search(client.received ?? "") !== -1 &&
      (client.keepsConnection === true || countConnections(url, localPort) === 0);
    await until("the service has ended it", isOver, BOUND_MS);
    expect(performance.now() - begun).toBeGreaterThan(client.limit - PERIOD_MS);
    if (client.keepsConnection === true) expect(countConnections(url, localPort)).toBe(1);
  });

  test("a server with idle connections closes at once", async ({ expect, onTestFinished }) => {
    const [closing, to] = await serve();
    for (const protocol of ["http/1.1", "h2"] as const) {
      const socket = await connect(to, protocol);
      onTestFinished(() => void socket.destroy());
      let received = "";
      socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
      socket.write(clients[protocol]["idle connection"]?.begin ?? "");
      await until("it is answered", () => received.includes("small"));
    }
    expect(countConnections(to)).toBe(2);
    const begun = performance.now();
    await closing.close(BOUND_MS);
    // A second on an idle machine; it must not wait for a limit of the clients.
    expect(performance.now() - begun).toBeLessThan(LIMITS.idleMs);
    await until("the connections are closed", () => countConnections(to) === 0);
  });
});
