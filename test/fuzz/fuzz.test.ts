/** The fuzzing of fuzz/run.ts, a thousandth of it, and whether it would notice. `npm test` builds the service first. */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { control } from "../../fuzz/control.js";
import { diceOf } from "../../fuzz/prng.js";
import { fuzz } from "../../fuzz/fuzz.js";
import { leftBehind } from "../../fuzz/leak-check.js";
import { asking } from "../../fuzz/send/request.js";
import { Target } from "../../fuzz/send/target.js";
import { sorts } from "../../fuzz/generators/index.js";

const SEED = 20_260_601;
const INPUTS = 1_000;

test("a thousand inputs of all sorts: no fault of the service, nothing left behind", { timeout: 60_000 }, async () => {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
  const env = Object.fromEntries(clean);
  const report = await fuzz({ seed: SEED, inputs: INPUTS, limitMs: 10_000, waitsForAll: false, env });
  expect(report.failures).toEqual([]);
  expect(report.sent).toBe(INPUTS);
  // What is sent is near enough to what is right.
  const often = ["rest 200", "rest 400", "rest 404", "rpc 200", "rpc 400", "http1 200", "http1 400"];
  expect(often.filter((came) => (report.came.get(came) ?? 0) < 5)).toEqual([]);
});

test.each(sorts.map((sort) => [sort.name, sort] as const))("%s: the same seed gives the same input", (name, sort) => {
  const shown = (seed: number, index: number) => sort.make(diceOf(seed, name, index)).show();
  const first = Array.from({ length: 30 }, (_, index) => shown(7, index));
  expect(first).toEqual(Array.from({ length: 30 }, (_, index) => shown(7, index)));
  expect(new Set(first).size).toBeGreaterThan(25);
  expect(Array.from({ length: 30 }, (_, index) => shown(8, index))).not.toEqual(first);
});

/** A target that is not ours. */
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

const get = (version: 1 | 2) => asking({ version, method: "GET", path: "/a", headers: {}, body: Buffer.alloc(0) });

test.each([
  [1, () => http.createServer((_request, response) => response.writeHead(500).end("a"))],
  [2, () => http2.createServer((_request, response) => response.writeHead(500).end("a"))],
] as const)("HTTP/%i: a 500 is noticed", async (version, server) => {
  const outcome = await get(version).send(await targetAt(server()));
  expect(outcome).toEqual({ came: "500", wrong: "status 500: a" });
});

test.each([
  ["13", "oops", "grpc-status 13: oops"],
  ["13", "protocol error: received compressed envelope", undefined],
  ["3", "wrong", undefined],
])("grpc-status %s, %s: %s", async (status, message, wrong) => {
  const headers = { "grpc-status": status, "grpc-message": encodeURIComponent(message) };
  const server = http2.createServer((_request, response) => response.writeHead(200, headers).end());
  expect((await get(2).send(await targetAt(server))).wrong).toBe(wrong);
});

test("no answer is noticed", async () => {
  const outcome = await get(1).send(await targetAt(http.createServer(), 50));
  expect(outcome.wrong).toBe("no answer, on a connection of its own neither: none within 50 ms");
});

test("bytes that are answered with a 503 are noticed", async () => {
  const http1 = sorts.find(({ name }) => name === "http1");
  const target = await targetAt(
    http.createServer((_request, response) => response.writeHead(503, { connection: "close" }).end("{}")),
  );
  const wrongs: (string | undefined)[] = [];
  for (let index = 0; index < 20; index++)
    wrongs.push((await http1?.make(diceOf(1, "http1", index)).send(target))?.wrong);
  expect(wrongs.filter((wrong) => wrong?.startsWith("HTTP/1.1 503")).length).toBeGreaterThan(0);
});

test("frames that are answered with a 503 are noticed", async () => {
  const frames = sorts.find(({ name }) => name === "http2");
  const target = await targetAt(http2.createServer((_request, response) => response.writeHead(503).end()));
  const wrongs: (string | undefined)[] = [];
  for (let index = 0; index < 60; index++)
    wrongs.push((await frames?.make(diceOf(1, "http2", index)).send(target))?.wrong);
  expect(wrongs.filter((wrong) => wrong?.startsWith("status 503 on stream")).length).toBeGreaterThan(0);
});

test("a control request that is not answered as it should be is noticed", async () => {
  const target = await targetAt(http.createServer((_request, response) => response.end('{"partyId":"another"}')));
  expect(await control(target)).toContain("control");
});

test("what is left behind is noticed, and what is not is not", () => {
  const before = { heapUsed: 30e6, external: 4e6, rss: 120e6, sockets: 5, timers: 3 };
  expect(leftBehind(before, { ...before, sockets: 0 })).toEqual([]);
  const grown = { heapUsed: 60e6, external: 90e6, rss: 500e6, sockets: 2, timers: 30 };
  expect(leftBehind(before, grown)).toEqual([
    "heapUsed has grown by 28.6 MiB, and may by 12.0 MiB",
    "external has grown by 82.0 MiB, and may by 48.0 MiB",
    "rss has grown by 362.4 MiB, and may by 256.0 MiB",
    "2 connections are open that the clients have closed",
    "30 timers run, before it was 3",
  ]);
});
