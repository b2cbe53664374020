/** Metrics of the running service, and their port. */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo, connect } from "node:net";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { callNamed } from "../fixtures/calls/index.js";
import { until } from "../fixtures/wait.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { type Sample, scrape, typesOf, valueOf } from "./exposition.js";
import { start } from "./starting.js";

const REQUESTS = "offledger_requests_total";
const valid = callNamed("v1 instruments");
const missing = callNamed("an instrument that does not exist");
const invalid = callNamed("a page of no instruments");

/** The request counts of an operation that are not zero. */
const countsOf = (samples: readonly Sample[], operation: string) =>
  samples
    .filter(({ name, labels, value }) => name === REQUESTS && labels.operation === operation && value > 0)
    .map(({ labels, value }) => `${labels.protocol} ${labels.status} ${value}`)
    .toSorted((a, b) => a.localeCompare(b));

describe("requests", () => {
  test("are counted once by operation, protocol and status", async () => {
    const app = await start({ metricsPort: 0 });
    for (const { send } of Object.values(protocolClients)) {
      expect(await send(app.url, valid)).toBeUndefined();
      expect(await send(app.url, missing)).toBe(Code.NotFound);
      expect(await send(app.url, invalid)).toBe(Code.InvalidArgument);
      expect(await send(app.url, valid)).toBeUndefined();
    }
    const { samples } = await scrape(app.metricsUrl);
    // The invalid request is to the same operation as the valid one.
    expect(nameOf(invalid)).toBe(nameOf(valid));
    expect(countsOf(samples, nameOf(valid))).toEqual([
      "connect invalid_argument 3",
      "connect ok 6",
      "grpc invalid_argument 1",
      "grpc ok 2",
      "grpc-web invalid_argument 1",
      "grpc-web ok 2",
      "rest invalid_argument 1",
      "rest ok 2",
    ]);
    expect(countsOf(samples, nameOf(missing))).toEqual([
      "connect not_found 3",
      "grpc not_found 1",
      "grpc-web not_found 1",
      "rest not_found 1",
    ]);
  });

  test("are in a histogram of their durations", async () => {
    const app = await start({ metricsPort: 0 });
    const begun = performance.now();
    for (let i = 0; i < 20; i++) await protocolClients.REST?.send(app.url, valid);
    const seconds = (performance.now() - begun) / 1000;
    const { samples } = await scrape(app.metricsUrl);
    const of = { operation: nameOf(valid), protocol: "rest" };
    const buckets = samples.filter(
      ({ name, labels }) => name === "offledger_request_duration_seconds_bucket" && labels.operation === of.operation,
    );
    const bounds = buckets.map(({ labels }) => (labels.le === "+Inf" ? Infinity : Number(labels.le)));
    expect(bounds[0]).toBe(0.0005);
    expect(bounds.slice(-2)).toEqual([30, Infinity]);
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
    const counts = buckets.map(({ value }) => value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(20);
    expect(valueOf(samples, "offledger_request_duration_seconds_count", of)).toBe(20);
    const sum = valueOf(samples, "offledger_request_duration_seconds_sum", of) ?? 0;
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(seconds);
  });

  test("without an operation share one series", async () => {
    const app = await start({ metricsPort: 0 });
    for (let i = 0; i < 30; i++) {
      await fetch(`${app.url}/made-up-${i}?token=secret-${i}`, { method: i % 2 === 0 ? "GET" : "DELETE" });
      await fetch(`${app.url}/offledger.made.up.v${i}.Service/Method`, { method: "POST", body: "{}" });
    }
    const { text, samples } = await scrape(app.metricsUrl);
    expect(countsOf(samples, "none")).toEqual(["rest not_found 60"]);
    expect(text).not.toMatch(/made.up|secret-/);
  });

  test("export failures at zero", async () => {
    const app = await start({ metricsPort: 0 });
    await protocolClients.gRPC?.send(app.url, valid);
    const { samples } = await scrape(app.metricsUrl);
    const of = { operation: nameOf(valid), protocol: "grpc" };
    expect(valueOf(samples, REQUESTS, { ...of, status: "internal" })).toBe(0);
    expect(valueOf(samples, REQUESTS, { ...of, status: "unavailable" })).toBe(0);
  });
});

describe("the service", () => {
  test("exports its state", async () => {
    const app = await start({ metricsPort: 0 });
    const { text, samples } = await scrape(app.metricsUrl);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(valueOf(samples, "offledger_build_info", { version })).toBe(1);
    expect(valueOf(samples, "offledger_ready")).toBe(1);
    expect(valueOf(samples, "offledger_ledger_lag_seconds")).toBe(0);
    expect(valueOf(samples, "offledger_ledger_offset")).toBeGreaterThanOrEqual(0);
    const template = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
    expect(valueOf(samples, "offledger_store_contracts", { template })).toBe(4);
    expect(valueOf(samples, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
    expect(valueOf(samples, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(typesOf(text).get("offledger_requests_total")).toBe("counter");
    expect(typesOf(text).get("offledger_request_duration_seconds")).toBe("histogram");
  });

  test("keeps the metrics of two instances in one process apart", async () => {
    const [one, other] = [await start({ metricsPort: 0 }), await start({ metricsPort: 0 })];
    await protocolClients.REST?.send(one.url, valid);
    expect(countsOf((await scrape(one.metricsUrl)).samples, nameOf(valid))).toEqual(["rest ok 1"]);
    const { samples } = await scrape(other.metricsUrl);
    expect(countsOf(samples, nameOf(valid))).toEqual([]);
    expect(valueOf(samples, "nodejs_eventloop_lag_p99_seconds")).toBeDefined();
  });
});

describe("the metrics port", () => {
  test("serves no documentation and no health", async () => {
    const app = await start({ metricsPort: 0 });
    const url = new URL(app.metricsUrl ?? "");
    for (const path of ["/metrics/", "/readyz", "/docs"]) {
      expect((await fetch(new URL(path, url))).status).toBe(404);
    }
    expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(404);
    const response = await fetch(`${url.href}?name=x`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
  });

  test("is open only if configured, and only as long as the service runs", async () => {
    expect((await start({})).metricsUrl).toBeUndefined();
    const app = await start({ metricsPort: 0 });
    const { url } = { url: app.metricsUrl ?? "" };
    expect((await fetch(url)).ok).toBe(true);
    await app.close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("stops the start if it is in use, and the error names the setting", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    await expect(start({ metricsPort: port })).rejects.toThrow(/^OFFLEDGER_METRICS_PORT.* EADDRINUSE/);
  });

  test("limits connections", async () => {
    const app = await start({ metricsPort: 0 });
    const { hostname, port } = new URL(app.metricsUrl ?? "");
    let closed = 0;
    const sockets = Array.from({ length: 24 }, () =>
      connect(Number(port), hostname)
        .on("error", () => undefined)
        .on("close", () => closed++),
    );
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    await until("connections over the limit are closed", () => closed >= 8);
    expect(closed).toBe(8);
    sockets.forEach((socket) => socket.destroy());
    await until(
      "a new connection is accepted",
      async () => (await fetch(app.metricsUrl ?? "").catch(() => undefined))?.ok === true,
    );
  });
});
