/** Clients that cost more than their share, over real sockets, beside one that does not. */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { END_HEADERS, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { until } from "../../fixtures/wait.js";
import { body, head, path, Served } from "./served.js";

const MIB = 1024 * 1024;
const REQUESTS = 400;
/** A trusted proxy of the service. */
const PROXY = "127.0.0.3";
const served = new Served({ bodyMegabytes: 2, responseMegabytes: 64, requests: REQUESTS }, [PROXY]);
const { budgets } = served;
const { NGHTTP2_REFUSED_STREAM: REFUSED_STREAM } = http2.constants;
const isUnused = () => served.isUnused();

describe("bodies beyond the budget", () => {
  test("are refused with 503 when they end, small ones are served, and all is released", async () => {
    const large = await Promise.all(Array.from({ length: 6 }, () => served.connect()));
    for (const { socket } of large) socket.write(head(MIB) + " ".repeat(MIB - 1));
    await until("bodies are refused", () => budgets.bodies.refused > 0);
    expect(budgets.bodies.used).toBeLessThanOrEqual(2 * MIB);
    expect(await served.status()).toBe(200);
    for (const { socket } of large) socket.write(" ");
    await until("all are answered", () => large.every(({ text }) => text().includes("\r\n\r\n")));
    const statuses = large.map(({ text }) => text().slice(9, 12));
    expect(statuses).toContain("503");
    expect(large.find(({ text }) => text().slice(9, 12) === "503")?.text()).toMatch(/retry-after: 1\r\n/i);
    for (const { socket } of large) socket.destroy();
    await until("nothing is held", isUnused);
  });

  test("count while their client stays away, and no longer when it has gone", async () => {
    const { socket } = await served.connect();
    socket.write(head(100_000) + " ".repeat(60_000));
    await until("bytes are held", () => budgets.bodies.used >= 60_000);
    socket.destroy();
    await until("nothing is held", isUnused);
    expect(budgets.bodies.used).toBe(0);
  });

  test("are refused over HTTP/2 too", async () => {
    const session = http2.connect(served.url);
    onTestFinished(() => session.destroy());
    const send = (type: string) => {
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": type });
      stream.on("error", () => undefined).write(Buffer.alloc(900 * 1024, " "));
      return stream;
    };
    const refusedBefore = budgets.bodies.refused;
    const streams = Array.from({ length: 6 }, () => send("application/json"));
    await until("a body is refused", () => budgets.bodies.refused > refusedBefore);
    expect(budgets.bodies.used).toBeLessThanOrEqual(2 * MIB);
    for (const stream of streams) stream.close();
    await until("nothing is held", isUnused);
  });
});

test("a body of 100,000 chunks of a byte is served", async () => {
  const padded = Buffer.concat([Buffer.from(body), Buffer.alloc(100_000 - body.length, " ")]);
  const { socket, text } = await served.connect();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunks: string[] = [];
  for (const byte of padded) chunks.push(`1\r\n${String.fromCharCode(byte)}\r\n`);
  socket.write(`${chunks.join("")}0\r\n\r\n`, "latin1");
  await until("it is answered", () => text().includes("\r\n\r\n"));
  expect(text()).toMatch(/^HTTP\/1\.1 200 /);
});

test("an HTTP/2 connection with a body in frames of a byte is closed", async () => {
  const connection = await FrameConnection.to(served.url.href);
  connection.send(frame(Type.headers, END_HEADERS, 1, requestHeaders(path, { "content-type": "application/json" })));
  const frames = Buffer.concat(Array.from({ length: 5_500 }, () => frame(Type.data, 0, 1, "[")));
  // More than a client may send in a second, also where they arrive over several. They fit the window of the stream.
  for (let sent = 0; sent < 10; sent++) connection.send(frames);
  await until("the connection is closed", () => connection.hasEnded);
  await until("nothing is held", isUnused);
  expect(await served.status()).toBe(200);
});

const expectRest = async () => {
  expect(budgets.requests.used).toBeLessThanOrEqual((REQUESTS * 3) / 4 + 1);
  expect(await served.status()).toBe(200);
};

describe("the requests of one client address leave a quarter of the budget to others", () => {
  /** Where it cannot be bound, one address cannot be told from another. */
  const isLinux = process.platform === "linux";
  const ATTACKER = "127.0.0.2";
  test.runIf(isLinux)("over HTTP/1.1, on many connections", async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS + 50 }, () => served.connect(ATTACKER)));
    for (const { socket } of clients) socket.write(`${head(100)} `);
    const refused = () => clients.filter(({ text }) => text().startsWith("HTTP/1.1 503 ")).length;
    await until("the others are refused", () => refused() + budgets.requests.used >= clients.length);
    await expectRest();
    for (const { socket } of clients) socket.destroy();
    await until("nothing is held", isUnused);
    expect(await served.status(ATTACKER)).toBe(200);
  });

  test.runIf(isLinux)("except those of a trusted proxy", async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS }, () => served.connect(PROXY)));
    for (const { socket } of clients) socket.write(`${head(100)} `);
    await until("all are under way", () => budgets.requests.used === REQUESTS);
    expect(clients.filter(({ text }) => text() !== "")).toEqual([]);
    for (const { socket } of clients) socket.destroy();
    await until("nothing is held", isUnused);
  });

  test.runIf(isLinux)("over HTTP/2, on few connections", async () => {
    let refused = 0;
    // Fewer requests on each than are refused to any connection with many.
    const sessions = Array.from({ length: (REQUESTS + 50) / 25 }, () =>
      http2.connect(served.url, {
        createConnection: ({ hostname, port }) =>
          net.connect({ host: hostname, port: Number(port), localAddress: ATTACKER }),
      }),
    );
    onTestFinished(() => sessions.forEach((session) => session.destroy()));
    for (const session of sessions) {
      session.on("error", () => undefined);
      for (let at = 0; at < 25; at++) {
        const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
        stream.on("error", () => undefined).on("close", () => (refused += stream.rstCode === REFUSED_STREAM ? 1 : 0));
        // The body does not end.
        stream.write(" ");
      }
    }
    await until("the others are refused", () => refused + budgets.requests.used >= sessions.length * 25);
    await expectRest();
    for (const session of sessions) session.destroy();
    await until("nothing is held", isUnused);
  });
});

test("clients that reset their connection before it is read harm nobody", async () => {
  const { hostname, port } = served.url;
  const sockets = Array.from({ length: 200 }, () => net.connect({ host: hostname, port: Number(port) }));
  await Promise.all(
    sockets.map(async (socket) => {
      await once(socket, "connect");
      socket.resetAndDestroy();
    }),
  );
  expect(await served.status()).toBe(200);
  await until("nothing is held", isUnused);
});
