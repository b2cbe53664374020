/** The budgets of the process, by themselves and with clients that cost more than their share, beside one that does not. */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { health } from "../../../src/service/health.js";
import { BodyBuffer } from "../../../src/transport/bodies.js";
import { Budget, createBudgets } from "../../../src/transport/limits.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { expectAlive, requestHttp1 } from "../../fixtures/http-requests.js";
import { largeRequest, largeResponseServices } from "../../fixtures/large-responses.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const KIB = 1024;
const MIB = KIB * KIB;

test("a budget gives what is left, and counts what it refuses", () => {
  const budget = new Budget(10);
  expect([budget.tryTake(6), budget.tryTake(5), budget.tryTake(4)]).toEqual([true, false, true]);
  expect(budget).toMatchObject({ used: 10, refused: 1 });
  budget.release(6);
  expect(budget.used).toBe(4);
});

test("the default budgets come from the memory, within bounds", () => {
  const { bodies, responses, requests } = createBudgets();
  for (const { limit } of [bodies, responses]) {
    expect(limit).toBeGreaterThanOrEqual(16 * MIB);
    expect(limit).toBeLessThanOrEqual(512 * MIB);
  }
  expect(requests.limit).toBeGreaterThan(500);
  expect(requests.limit).toBeLessThanOrEqual(20_000);
});

describe("a body", () => {
  test("of a million chunks of a byte costs at most twice its bytes", () => {
    const budget = new Budget(4 * MIB);
    const body = new BodyBuffer(budget, { limit: 4 * MIB, expected: undefined });
    let most = 0;
    for (let at = 0; at < 1_000_000; at++) {
      if (!body.add(Buffer.from([at % 251]))) throw new Error("the budget is used up");
      most = Math.max(most, budget.used / Math.max(2_048, at + 1));
    }
    expect(most).toBeLessThanOrEqual(2);
    expect(body.bytes.length).toBe(1_000_000);
    expect([0, 1, 250, 251, 999_999].map((at) => body.bytes[at])).toEqual([0, 1, 250, 0, 999_999 % 251]);
    body.release();
    expect(budget.used).toBe(0);
  });

  test("keeps its bytes while it grows, and after its release", () => {
    const budget = new Budget(4 * MIB);
    const body = new BodyBuffer(budget, { limit: MIB, expected: undefined });
    const chunks = Array.from({ length: 10 }, (_, at) => Buffer.alloc(100_000, at));
    for (const chunk of chunks) expect(body.add(chunk)).toBe(true);
    expect(budget.used).toBeLessThanOrEqual(MIB);
    const bytes = body.bytes;
    body.release();
    expect(bytes.equals(Buffer.concat(chunks))).toBe(true);
  });

  test("beyond the budget is not taken, and what was taken is released", () => {
    const budget = new Budget(8 * KIB);
    const body = new BodyBuffer(budget, { limit: 4 * MIB, expected: undefined });
    expect([body.add(Buffer.alloc(5 * KIB)), body.add(Buffer.alloc(3 * KIB + 1))]).toEqual([true, false]);
    expect(body.length).toBe(5 * KIB);
    body.release();
    expect(budget.used).toBe(0);
  });
});

describe("of a server", () => {
  const REQUESTS = 400;
  const { path, body } = largeRequest("large.300000");
  const type = { "content-type": "application/json" };
  const budgets = createBudgets({ bodyMegabytes: 2, responseMegabytes: 64, requests: REQUESTS });
  const { bodies, responses, requests } = budgets;
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = await createServer([...largeResponseServices, health(() => undefined)], {
      ...TEST_SERVER_OPTIONS,
      budgets,
    });
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(100));

  const released = () =>
    until("nothing is held", () => bodies.used === 0 && responses.used === 0 && requests.used === 0);
  const head = (length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  async function connect() {
    const socket = net.connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
    onTestFinished(() => void socket.destroy());
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).on("error", () => undefined);
    await once(socket, "connect");
    return { socket, text: () => Buffer.concat(chunks).toString("latin1") };
  }
  const expectServed = async () => expect(await requestHttp1(url, path, type, body)).toMatchObject({ status: 200 });

  /** Streams that the test may end; counts those that are refused so that a retry is safe. */
  function streams(
    sessions: number,
    perSession: number,
    begin: (stream: http2.ClientHttp2Stream) => void,
    window?: number,
  ) {
    const state = { refused: 0, destroy: () => opened.forEach((session) => session.destroy()) };
    const opened = Array.from({ length: sessions }, () =>
      http2.connect(url, window === undefined ? {} : { settings: { initialWindowSize: window } }),
    );
    onTestFinished(state.destroy);
    for (const session of opened) {
      session.on("error", () => undefined);
      for (let at = 0; at < perSession; at++) {
        const stream = session.request({ ":method": "POST", ":path": path, ...type });
        stream.on("error", () => undefined);
        stream.on("close", () => (state.refused += stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? 1 : 0));
        begin(stream);
      }
    }
    return state;
  }

  test("bodies beyond it are refused with 503 at once, small ones are served, and all is released", async () => {
    const large = await Promise.all(Array.from({ length: 6 }, connect));
    for (const { socket } of large) socket.write(head(900 * KIB) + " ".repeat(900 * KIB - 1));
    // Two of them leave room for small ones.
    await until("four bodies are refused", () => bodies.refused >= 4);
    expect(bodies.used).toBeLessThanOrEqual(2 * MIB);
    await expectServed();
    for (const { socket } of large) socket.write(" ");
    await until("all are answered", () => large.every(({ text }) => text().includes("\r\n\r\n")));
    const refused = large.find(({ text }) => text().startsWith("HTTP/1.1 503 "));
    expect(refused?.text()).toMatch(/retry-after: 1\r\n/i);
    for (const { socket } of large) socket.destroy();
    await released();

    // One counts while its client stays away, and no longer when it has gone.
    const { socket } = await connect();
    socket.write(head(100_000) + " ".repeat(60_000));
    await until("bytes are held", () => bodies.used >= 60_000);
    socket.destroy();
    await released();
  });

  test("bodies beyond it are refused over HTTP/2 too", async () => {
    const before = bodies.refused;
    const all = streams(1, 6, (stream) => stream.write(Buffer.alloc(900 * KIB, " ")));
    await until("a body is refused", () => bodies.refused > before);
    expect(bodies.used).toBeLessThanOrEqual(2 * MIB);
    all.destroy();
    await released();
  });

  test("requests beyond it are 503 over HTTP/1.1, health answers, and all is released", async () => {
    const all = await Promise.all(Array.from({ length: REQUESTS + 50 }, connect));
    for (const { socket } of all) socket.write(`${head(100)} `);
    const refused = () => all.filter(({ text }) => text().startsWith("HTTP/1.1 503 ")).length;
    await until("the others are refused", () => refused() >= 50);
    expect(requests.used).toBeLessThanOrEqual(REQUESTS);
    await expectAlive(url);
    for (const { socket } of all) socket.destroy();
    await released();
    await expectServed();
  });

  test("requests that are pipelined are released with their connection", async () => {
    const { socket } = await connect();
    // The client does not read, so that responses wait behind one another.
    socket.pause();
    socket.write(`${head(body.length)}${body.toString()}`.repeat(50));
    await until("requests are under way", () => requests.used > 1);
    socket.destroy();
    await released();
    expect(requests.used).toBe(0);
  });

  test("requests beyond it over HTTP/2 are refused streams", async () => {
    // The bodies do not end.
    const all = streams((REQUESTS + 50) / 25, 25, (stream) => stream.write(" "));
    await until("the others are refused", () => all.refused === 50);
    await expectAlive(url);
    all.destroy();
    await released();
  });

  test("HTTP/2 clients that take no responses hold no more than it, and health answers", async () => {
    const all = streams(20, 50, (stream) => stream.end(body), 0);
    await until("some are refused", () => all.refused > 0);
    await expectAlive(url);
    all.destroy();
    await released();
    await expectServed();
  });
});
