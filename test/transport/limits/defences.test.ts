/** Clients that cost more than their share, over real sockets, beside one that does not. */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { body, head, path, Served } from "./served.js";

const MIB = 1024 * 1024;
const REQUESTS = 400;
const served = new Served({ bodyMegabytes: 2, responseMegabytes: 64, requests: REQUESTS });
const { budgets } = served;
const { NGHTTP2_REFUSED_STREAM: REFUSED_STREAM } = http2.constants;
const isUnused = () => served.isUnused();

describe("bodies beyond the budget", () => {
  test("are refused with 503 at once, small ones are served, and all is released", async () => {
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

const isHealthy = async () => (await fetch(new URL("/livez", served.url))).status === 200;

describe("requests beyond the budget", () => {
  test("over HTTP/1.1 are 503, and all is released", async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS + 50 }, () => served.connect()));
    for (const { socket } of clients) socket.write(`${head(100)} `);
    const refused = () => clients.filter(({ text }) => text().startsWith("HTTP/1.1 503 ")).length;
    await until("the others are refused", () => refused() >= 50);
    expect(budgets.requests.used).toBeLessThanOrEqual(REQUESTS);
    expect(await isHealthy()).toBe(true);
    for (const { socket } of clients) socket.destroy();
    await until("nothing is held", isUnused);
    expect(await served.status()).toBe(200);
  });

  test("that are pipelined are released with their connection", async () => {
    const { socket } = await served.connect();
    // The client does not read, so that responses wait behind one another.
    socket.pause();
    socket.write(`${head(body.length)}${body.toString()}`.repeat(50));
    await until("requests are under way", () => budgets.requests.used > 1);
    socket.destroy();
    await until("nothing is held", isUnused);
    expect(budgets.requests.used).toBe(0);
  });

  test("over HTTP/2 are refused streams, which are safe to retry", async () => {
    let refused = 0;
    const sessions = Array.from({ length: (REQUESTS + 50) / 25 }, () => http2.connect(served.url));
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
    await until("the others are refused", () => refused === 50);
    expect(await isHealthy()).toBe(true);
    for (const session of sessions) session.destroy();
    await until("nothing is held", isUnused);
  });
});

test("HTTP/2 clients that take no responses hold no more than the budget, and health answers", async () => {
  const sessions = Array.from({ length: 20 }, () => http2.connect(served.url, { settings: { initialWindowSize: 0 } }));
  onTestFinished(() => sessions.forEach((session) => session.destroy()));
  let refused = 0;
  for (const session of sessions) {
    session.on("error", () => undefined);
    for (let at = 0; at < 50; at++) {
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
      stream.on("error", () => undefined).on("close", () => (refused += stream.rstCode === REFUSED_STREAM ? 1 : 0));
      stream.end(body);
    }
  }
  await until("some are refused", () => refused > 0);
  expect((await fetch(new URL("/livez", served.url))).status).toBe(200);
  for (const session of sessions) session.destroy();
  await until("nothing is held", isUnused);
  expect(await served.status()).toBe(200);
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
