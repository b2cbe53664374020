/** A twentieth of `npm run fuzz`, and tests of what it judges by. Needs `npm run build`. */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { sendControlRequests } from "./corpus.js";
import { findLeaks, fuzz, generators } from "./fuzz.js";
import { createPrng } from "./prng.js";
import { createRequestInput, Target } from "./send.js";

const SEED = 20_260_601;
const INPUTS = 50_000;

test("50,000 inputs of all generators cause no fault and no leak", { timeout: 900_000 }, async () => {
  const report = await fuzz({ seed: SEED, inputs: INPUTS, limitMs: 30_000, waitsForAll: false });
  expect(report.failures).toEqual([]);
  expect(report.sent).toBe(INPUTS);
  const common = ["rest 200", "rest 400", "rest 404", "rpc 200", "rpc 400", "http1 200", "http1 400"];
  expect(common.filter((result) => (report.results.get(result) ?? 0) < 250)).toEqual([]);
});

test.each(generators.map((generator) => [generator.name, generator] as const))(
  "%s: the same seed generates the same inputs",
  (name, generator) => {
    const showInput = (seed: number, index: number) => generator.make(createPrng(seed, name, index)).show();
    const first = Array.from({ length: 30 }, (_, index) => showInput(7, index));
    expect(first).toEqual(Array.from({ length: 30 }, (_, index) => showInput(7, index)));
    expect(new Set(first).size).toBeGreaterThan(25);
    expect(Array.from({ length: 30 }, (_, index) => showInput(8, index))).not.toEqual(first);
  },
);

/** A target other than the service. */
async function targetAt(server: Server, limitMs = 5_000): Promise<Target> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = new Target("127.0.0.1", (server.address() as AddressInfo).port, limitMs);
  onTestFinished(() => {
    target.close();
    server.close();
  });
  return target;
}

const get = (version: 1 | 2) =>
  createRequestInput({ version, method: "GET", path: "/a", headers: {}, body: Buffer.alloc(0) });

test.each([
  [1, () => http.createServer((_request, response) => response.writeHead(500).end("a"))],
  [2, () => http2.createServer((_request, response) => response.writeHead(500).end("a"))],
] as const)("HTTP/%i: status 500 is a fault", async (version, server) => {
  const outcome = await get(version).send(await targetAt(server()));
  expect(outcome).toEqual({ result: "500", fault: "status 500: a" });
});

test.each([
  ["13", "oops", "grpc-status 13: oops"],
  ["13", "protocol error: received compressed envelope", undefined],
  ["3", "wrong", undefined],
])("grpc-status %s, message %s: fault %s", async (status, message, fault) => {
  const headers = { "grpc-status": status, "grpc-message": encodeURIComponent(message) };
  const server = http2.createServer((_request, response) => response.writeHead(200, headers).end());
  expect((await get(2).send(await targetAt(server))).fault).toBe(fault);
});

test("no response is a fault", async () => {
  const outcome = await get(1).send(await targetAt(http.createServer(), 50));
  expect(outcome.fault).toBe("no response, not even on a new connection: none within 50 ms");
});

test.each([
  ["http1", () => http.createServer((_request, response) => response.writeHead(503).end("{}")), "HTTP/1.1 503"],
  ["http2", () => http2.createServer((_request, response) => response.writeHead(503).end()), "status 503 on stream"],
] as const)("status 503 to raw bytes of %s is a fault", async (name, server, fault) => {
  const generator = generators.find((one) => one.name === name);
  const target = await targetAt(server());
  const faults: (string | undefined)[] = [];
  for (let index = 0; index < 60; index++)
    faults.push((await generator?.make(createPrng(1, name, index)).send(target))?.fault);
  expect(faults.filter((one) => one?.startsWith(fault)).length).toBeGreaterThan(0);
});

test("an unexpected response to a control request is a fault", async () => {
  const target = await targetAt(http.createServer((_request, response) => response.end('{"partyId":"another"}')));
  expect(await sendControlRequests(target)).toContain("control");
});

test("growth beyond the bounds is reported as a leak", () => {
  const pauses = { p99: 5, longest: 6 };
  const before = { cpuMicroseconds: 0, heapUsed: 30e6, external: 4e6, rss: 120e6, sockets: 5, timers: 3, pauses };
  expect(findLeaks(before, { ...before, sockets: 0 })).toEqual([]);
  const grown = { cpuMicroseconds: 0, heapUsed: 60e6, external: 90e6, rss: 500e6, sockets: 2, timers: 30, pauses };
  expect(findLeaks(before, grown)).toEqual([
    "heapUsed grew by 28.6 MiB, more than 12.0 MiB",
    "external grew by 82.0 MiB, more than 48.0 MiB",
    "rss grew by 362.4 MiB, more than 256.0 MiB",
    "2 connections are open that the clients have closed",
    "30 timers are active, 3 after the warm-up",
  ]);
});
