/** Clients that cost more than their share, over real sockets, beside one that does not. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Budgets } from "../../../src/transport/admission/budgets.js";
import { createBudgets } from "../../../src/transport/admission/budgets.js";
import { health } from "../../../src/service/health.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { encodeRequest, expectedBody, largeResponseServices } from "../../fixtures/large-responses.js";
import { createRequests } from "../../fixtures/paced-clients.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const MIB = 1024 * 1024;
const LIMITS = { bodyMegabytes: 2, responseMegabytes: 64, requests: 400 };

let server: Server;
let url: URL;
let budgets: Budgets;
beforeAll(async () => {
  budgets = createBudgets(LIMITS);
  server = await createServer([...largeResponseServices, ...health(() => undefined)], {
    ...TEST_SERVER_OPTIONS,
    budgets,
  });
  url = new URL(await server.listen("127.0.0.1", 0));
});
afterAll(() => server.close(100));

const request = createRequests(1, ["REST"])[0];
if (request === undefined) throw new Error("no request");
const { path, body } = encodeRequest(request);

/** A TCP connection that collects what it receives. */
async function connect(): Promise<{ socket: net.Socket; text: () => string; isClosed: () => boolean }> {
  const socket = net.connect({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk)).on("error", () => undefined);
  await once(socket, "connect");
  return { socket, text: () => Buffer.concat(chunks).toString("latin1"), isClosed: () => socket.closed };
}

async function status(content: Buffer | string, headers: http.OutgoingHttpHeaders = {}): Promise<number | undefined> {
  const options = { method: "POST", path, host: url.hostname, port: url.port, agent: false };
  const sent = http.request({ ...options, headers: { "content-type": "application/json", ...headers } });
  sent.end(content);
  const [response] = (await once(sent, "response")) as [http.IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

const unused = () => budgets.bodies.used === 0 && budgets.responses.used === 0 && budgets.requests.used === 0;

const head = (length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe("bodies beyond the budget", () => {
  test("are refused with 503 when they end, small ones are served, and all is released", async () => {
    const large = await Promise.all(Array.from({ length: 6 }, connect));
    for (const { socket } of large) socket.write(head(MIB) + " ".repeat(MIB - 1));
    await until("bodies are refused", () => budgets.bodies.refused > 0);
    expect(budgets.bodies.used).toBeLessThanOrEqual(2 * MIB);
    expect(await status(body)).toBe(200);
    for (const { socket } of large) socket.write(" ");
    await until("all are answered", () => large.every(({ text }) => text().includes("\r\n\r\n")));
    const statuses = large.map(({ text }) => text().slice(9, 12));
    expect(statuses).toContain("503");
    expect(large.find(({ text }) => text().slice(9, 12) === "503")?.text()).toMatch(/retry-after: 1\r\n/i);
    for (const { socket } of large) socket.destroy();
    await until("nothing is held", unused);
  });

  test("count while their client stays away, and no longer when it has gone", async () => {
    const { socket } = await connect();
    socket.write(head(100_000) + " ".repeat(60_000));
    await until("bytes are held", () => budgets.bodies.used >= 60_000);
    socket.destroy();
    await until("nothing is held", unused);
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
    await until("nothing is held", unused);
  });
});

test("a body of 100,000 chunks of a byte is served", async () => {
  const padded = Buffer.concat([Buffer.from(body), Buffer.alloc(100_000 - body.length, " ")]);
  const { socket, text } = await connect();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunks: string[] = [];
  for (const byte of padded) chunks.push(`1\r\n${String.fromCharCode(byte)}\r\n`);
  socket.write(`${chunks.join("")}0\r\n\r\n`, "latin1");
  await until("it is answered", () => text().includes("\r\n\r\n"));
  expect(text()).toMatch(/^HTTP\/1\.1 200 /);
});

describe("a client that pipelines", () => {
  const liveness = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

  test("5,000 requests gets 5,000 responses in order, and another client gets its own before them", async () => {
    const { socket, text } = await connect();
    const requests = Array.from({ length: 5_000 }, (_, at) => `GET /livez?${at} HTTP/1.1\r\nHost: a\r\n\r\n`);
    socket.write(requests.join(""));
    await until("the first is answered", () => text().includes("HTTP/1.1 200"));
    expect(await status(body)).toBe(200);
    expect(text().split("HTTP/1.1 200").length - 1).toBeLessThan(5_000);
    await until("all are answered", () => text().split("HTTP/1.1 200").length - 1 === 5_000, 25_000);
    await until("nothing is held", unused);
  });

  test("and reads nothing has few requests handled, and the others keep their turn", async () => {
    const { socket } = await connect();
    const { length } = expectedBody(request);
    socket.pause();
    const post = head(body.length);
    socket.write(
      Buffer.concat(Array.from({ length: 100 }, () => Buffer.concat([Buffer.from(post), Buffer.from(body)]))),
    );
    await until("responses are held", () => budgets.responses.used > 0);
    for (let at = 0; at < 10; at++) expect(await status(body)).toBe(200);
    // The first, which waits in the socket, and eight behind it.
    expect(budgets.responses.used).toBeLessThanOrEqual(9 * length);
    socket.destroy();
    await until("nothing is held", unused);
  });

  test("a request whose body follows late", async () => {
    const { socket, text } = await connect();
    const post = head(body.length);
    socket.write(liveness.repeat(200) + post);
    await until("those before are answered", () => text().split("HTTP/1.1 200").length - 1 === 200);
    socket.write(body);
    await until("it is answered", () => text().split("HTTP/1.1 200").length - 1 === 201);
    expect(text()).not.toMatch(/HTTP\/1\.1 [345]/);
  });
});

test("HTTP/2 clients that take no responses are refused before others", async () => {
  const codes: (number | undefined)[] = [];
  const sessions = Array.from({ length: 4 }, () => http2.connect(url, { settings: { initialWindowSize: 0 } }));
  onTestFinished(() => sessions.forEach((session) => session.destroy()));
  for (const session of sessions) {
    session.on("error", () => undefined);
    for (let at = 0; at < 90; at++) {
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
      stream.on("error", () => undefined).on("close", () => codes.push(stream.rstCode));
      stream.end(body);
    }
  }
  await until("some are refused", () => codes.includes(http2.constants.NGHTTP2_REFUSED_STREAM));
  expect(budgets.requests.used).toBeLessThan(LIMITS.requests);
  expect(await status(body)).toBe(200);
  for (const session of sessions) session.destroy();
  await until("nothing is held", unused);
});
