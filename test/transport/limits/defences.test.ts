/** The three budgets, over real sockets: clients beyond them are refused, one beside them is served, and all is released. */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { health } from "../../../src/service/health.js";
import { createBudgets } from "../../../src/transport/limits.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { encodeRequest, largeResponseServices } from "../../fixtures/large-responses.js";
import { requestHttp1 } from "../../fixtures/http-requests.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const MIB = 1024 * 1024;
const REQUESTS = 400;
const budgets = createBudgets({ bodyMegabytes: 2, responseMegabytes: 64, requests: REQUESTS });
const { NGHTTP2_REFUSED_STREAM: REFUSED_STREAM } = http2.constants;

const { path, body } = encodeRequest({ form: "REST", id: "large.300000" });
const head = (length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

let server: Server;
let url: string;
beforeAll(async () => {
  const bindings = [...largeResponseServices, ...health(() => undefined)];
  server = await createServer(bindings, { ...TEST_SERVER_OPTIONS, budgets });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(100));

const isUnused = () => [budgets.bodies, budgets.responses, budgets.requests].every(({ used }) => used === 0);

async function connect() {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk)).on("error", () => undefined);
  await once(socket, "connect");
  return { socket, text: () => Buffer.concat(chunks).toString("latin1") };
}

/** The status of a request on a connection of its own. */
const statusOf = async () => (await requestHttp1(url, path, { "content-type": "application/json" }, body)).status;
const isHealthy = async () => (await requestHttp1(url, "/livez")).status === 200;

describe("bodies beyond the budget", () => {
  test("are refused with 503 at once, small ones are served, and all is released", async () => {
    const large = await Promise.all(Array.from({ length: 6 }, () => connect()));
    for (const { socket } of large) socket.write(head(MIB) + " ".repeat(MIB - 1));
    await until("bodies are refused", () => budgets.bodies.refused > 0);
    expect(budgets.bodies.used).toBeLessThanOrEqual(2 * MIB);
    expect(await statusOf()).toBe(200);
    for (const { socket } of large) socket.write(" ");
    await until("all are answered", () => large.every(({ text }) => text().includes("\r\n\r\n")));
    const statuses = large.map(({ text }) => text().slice(9, 12));
    expect(statuses).toContain("503");
    expect(large.find(({ text }) => text().slice(9, 12) === "503")?.text()).toMatch(/retry-after: 1\r\n/i);
    for (const { socket } of large) socket.destroy();
    await until("nothing is held", isUnused);
  });

  test("count while their client stays away, and no longer when it has gone", async () => {
    const { socket } = await connect();
    socket.write(head(100_000) + " ".repeat(60_000));
    await until("bytes are held", () => budgets.bodies.used >= 60_000);
    socket.destroy();
    await until("nothing is held", isUnused);
    expect(budgets.bodies.used).toBe(0);
  });

  test("are refused over HTTP/2 too", async () => {
    const session = http2.connect(url);
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

describe("requests beyond the budget", () => {
  test("over HTTP/1.1 are 503, and all is released", async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS + 50 }, () => connect()));
    for (const { socket } of clients) socket.write(`${head(100)} `);
    const refused = () => clients.filter(({ text }) => text().startsWith("HTTP/1.1 503 ")).length;
    await until("the others are refused", () => refused() >= 50);
    expect(budgets.requests.used).toBeLessThanOrEqual(REQUESTS);
    expect(await isHealthy()).toBe(true);
    for (const { socket } of clients) socket.destroy();
    await until("nothing is held", isUnused);
    expect(await statusOf()).toBe(200);
  });

  test("over HTTP/2 are refused streams, which are safe to retry", async () => {
    let refused = 0;
    const sessions = Array.from({ length: (REQUESTS + 50) / 25 }, () => http2.connect(url));
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
  const sessions = Array.from({ length: 20 }, () => http2.connect(url, { settings: { initialWindowSize: 0 } }));
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
  expect(await isHealthy()).toBe(true);
  for (const session of sessions) session.destroy();
  await until("nothing is held", isUnused);
  expect(await statusOf()).toBe(200);
});
