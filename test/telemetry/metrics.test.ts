/** The metrics of docs/observability.md, of a running service. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { acme } from "../../demo/registry.js";
import { FreshnessHistory } from "../../src/telemetry/freshness.js";
import { RequestMetrics, TransferMetrics } from "../../src/telemetry/request-metrics.js";
import type { CompletedRequest } from "../../src/telemetry/request-record.js";
import { callNamed } from "../fixtures/calls/index.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { sendRest } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import { listWarnings } from "../fixtures/warnings.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { type Sample, scrape, start, valueOf } from "./starting.js";

const valid = callNamed("v1 instruments");
const missing = callNamed("an instrument that does not exist");
/** To the same operation as the valid one. */
const invalid = callNamed("a page of no instruments");
const direct = callNamed("v2 transfer factory, direct");
const json = { "content-type": "application/json" };

/** The samples of a metric that are not zero, as their labels and value, sorted. */
const countsOf = (samples: readonly Sample[], metric: string): string[] =>
  samples
    .filter(({ name, value }) => name === metric && value > 0)
    .map(({ labels, value }) => [...Object.values(labels), value].join(" "))
    .toSorted();

test("every metric of a service on a file", async () => {
  const traces = { sendsTraces: true, tracesRatio: 0 };
  const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 }, maxRequests: 1_234, ...traces });
  await listWarnings(app.metricsUrl);
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const watch = await fetch(`${app.url}/api/offledger/v1/watch`, { signal: end.signal });
  await watch.body?.getReader().read();
  expect(await protocolClients.gRPC?.send(app.url, valid)).toBeUndefined();
  const { types, samples } = await scrape(app.metricsUrl);
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const template = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
  const of = { operation: nameOf(valid), protocol: "grpc" };
  const rows: readonly (readonly [type: string, name: string, labels: Sample["labels"], value: number | undefined])[] =
    [
      ["counter", "requests_total", { ...of, status: "ok" }, 1],
      // So that the first failure is an increase.
      ["counter", "requests_total", { ...of, status: "internal" }, 0],
      ["counter", "requests_total", { ...of, status: "unavailable" }, 0],
      ["counter", "requests_total", { ...of, status: "not_found" }, undefined],
      ["counter", "not_modified_total", of, 0],
      ["gauge", "ready", {}, 1],
      ["gauge", "ledger_offset", {}, 4_000],
      ["gauge", "ledger_lag_seconds", {}, 0],
      ["counter", "ledger_reconnects_total", {}, undefined],
      ["gauge", "foreign_contracts", {}, 0],
      ["gauge", "mirroring", {}, 1],
      ["gauge", "store_contracts", { template }, 4],
      ["gauge", "database_connections", {}, undefined],
      ["gauge", "heap_share", {}, undefined],
      ["gauge", "database_waiting", {}, undefined],
      ["gauge", "watch_streams", {}, 1],
      ["gauge", "watch_lag_seconds", {}, expect.any(Number) as number],
      ["counter", "watch_events_total", { type: "reset" }, 1],
      ["counter", "watch_events_total", { type: "changed" }, 0],
      ["gauge", "budget_used", { budget: "requests" }, 0],
      ["gauge", "budget_limit", { budget: "requests" }, 1_234],
      ["counter", "budget_refused_total", { budget: "response_bytes" }, 0],
      ["gauge", "registry_warnings", { kind: "registrar-not-served" }, 0],
      ["gauge", "registry_checked_timestamp_seconds", {}, Date.parse("2026-06-01T00:00:00Z") / 1_000],
      ["counter", "trace_spans_total", { result: "sent" }, 0],
      ["gauge", "build_info", { version }, 1],
    ];
  const found = rows.map(([, name, labels]) => {
    const value = valueOf(samples, `offledger_${name}`, labels);
    return [types.get(`offledger_${name}`), name, labels, value];
  });
  expect(found).toEqual(rows);
  expect(types.get("offledger_request_duration_seconds")).toBe("histogram");
  expect(valueOf(samples, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
  expect(valueOf(samples, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
});

describe("requests", () => {
  test("are counted once by operation, protocol and status, transfers by instrument and kind", async () => {
    const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 } });
    const other = await start({ metricsPort: { host: "127.0.0.1", port: 0 } });
    const offer = callNamed("v1 transfer factory, offer");
    const self = callNamed("v1 transfer factory, self, without debug fields");
    for (const { send } of Object.values(protocolClients)) {
      expect(await send(app.url, valid)).toBeUndefined();
      expect(await send(app.url, missing)).toBe(Code.NotFound);
      expect(await send(app.url, invalid)).toBe(Code.InvalidArgument);
      for (const call of [offer, direct, direct, self]) expect(await send(app.url, call)).toBeUndefined();
      expect(await send(app.url, callNamed("transfer arguments without a transfer"))).toBeDefined();
    }
    const { samples } = await scrape(app.metricsUrl);
    const counts = countsOf(samples, "offledger_requests_total");
    const of = `metadata ${nameOf(valid)} `;
    const listed = counts.filter((one) => one.startsWith(of));
    expect(listed.map((one) => one.slice(of.length))).toEqual([
      "connect invalid_argument 4",
      "connect ok 4",
      "grpc invalid_argument 1",
      "grpc ok 1",
      "grpc-web invalid_argument 1",
      "grpc-web ok 1",
      "rest invalid_argument 1",
      "rest ok 1",
    ]);
    expect(countsOf(samples, "offledger_transfer_factories_total")).toEqual([
      `${acme.party} ACME-BOND offer 7`,
      `${acme.party} ACME-BOND self 7`,
      `${acme.party} ACME-EUR direct 14`,
    ]);
    expect(countsOf(samples, "offledger_refusals_total")).toContain(`${nameOf(missing)} instrument-unknown 7`);
    // Another service in the process has its own.
    const others = (await scrape(other.metricsUrl)).samples;
    expect(countsOf(others, "offledger_requests_total")).toEqual([]);
    expect(valueOf(others, "nodejs_eventloop_lag_p99_seconds")).toBeDefined();
  });

  test("whose response the client has are counted, and as transfers too", async () => {
    const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 } });
    const ask = (etag: string) => sendRest(app.url, direct, { headers: { ...json, "offledger-if-none-match": etag } });
    const etag = (await ask("")).headers.get("etag") ?? "";
    expect(await (await ask(etag)).text()).toBe("{}");
    const { samples } = await scrape(app.metricsUrl);
    expect(countsOf(samples, "offledger_not_modified_total")).toEqual([`${nameOf(direct)} rest 1`]);
    expect(countsOf(samples, "offledger_transfer_factories_total")).toEqual([`${acme.party} ACME-EUR direct 2`]);
  });

  test("without an operation share one series, which has nothing that was sent", async () => {
    const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 } });
    for (let i = 0; i < 5; i++) {
      await fetch(`${app.url}/made-up-${i}?token=secret-${i}`, { method: i % 2 === 0 ? "GET" : "DELETE" });
      await fetch(`${app.url}/offledger.made.up.v${i}.Service/Method`, { method: "POST", body: "{}" });
    }
    const { text, samples } = await scrape(app.metricsUrl);
    expect(countsOf(samples, "offledger_requests_total")).toEqual(["none none rest not_found 10"]);
    expect(text).not.toMatch(/made.up|secret-/);
  });

  test("are of a group each; streams have no duration", async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    const groups = {
      "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory": "factories",
      "offledger.burn.v0.BurnService/GetBurnOfferAcceptContext": "contexts",
      "offledger.metadata.v1.MetadataService/GetInstrument": "metadata",
      "offledger.health.v1.HealthService/GetReadiness": "probes",
      "grpc.health.v1.Health/Check": "probes",
      "grpc.health.v1.Health/Watch": "streams",
      "offledger.watch.v1.WatchService/Watch": "streams",
      "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": "streams",
      "": "none",
    };
    for (const operation of Object.keys(groups))
      metrics.observer({ operation, protocol: "grpc", outcome: 0, durationMs: 1 } as CompletedRequest);
    const of = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];
    const counted = (await of("offledger_requests_total")).filter(({ value }) => value === 1);
    expect(counted.map(({ labels }) => labels["group"])).toEqual(Object.values(groups));
    const timed = new Set((await of("offledger_request_duration_seconds")).map(({ labels }) => labels["group"]));
    expect([...timed].toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      "contexts",
      "factories",
      "metadata",
      "none",
      "probes",
    ]);
  });

  test("are in a histogram of seconds, from 0.5 ms to 30 s", async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    for (const durationMs of [0.4, 3, 31_000])
      metrics.observer({ operation: "a.B/C", protocol: "rest", outcome: 0, durationMs } as CompletedRequest);
    const values = (await registry.getSingleMetric("offledger_request_duration_seconds")?.get())?.values ?? [];
    const buckets = values.flatMap(({ labels, value }) => ("le" in labels ? [`${labels["le"]}: ${value}`] : []));
    expect(buckets.join(", ")).toBe(
      "0.0005: 1, 0.001: 1, 0.0025: 1, 0.005: 2, 0.01: 2, 0.025: 2, 0.05: 2, 0.1: 2, 0.25: 2, 0.5: 2, 1: 2, 2.5: 2, " +
        "5: 2, 10: 2, 30: 2, +Inf: 3",
    );
    expect(values.slice(-2).map(({ value }) => value)).toEqual([31.0034, 3]);
  });
});

/** What a process exports after these transfers. */
async function seriesOf(transfers: (metrics: TransferMetrics) => void): Promise<string[]> {
  const registry = new Registry();
  transfers(new TransferMetrics(registry));
  const counter = await registry.getSingleMetric("offledger_transfer_factories_total")?.get();
  return (counter?.values ?? []).map(({ labels, value }) => [...Object.values(labels), value].join(" "));
}

describe("transfers", () => {
  test("with a database are counted once, however often their query runs", async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const app = await start({ metricsPort: { host: "127.0.0.1", port: 0 }, databaseUrl: databaseAt(database.url) });
    await until("it is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
    for (let count = 0; count < 3; count++) expect((await sendRest(app.url, direct)).status).toBe(200);
    const { samples } = await scrape(app.metricsUrl);
    expect(countsOf(samples, "offledger_transfer_factories_total")).toEqual([`${acme.party} ACME-EUR direct 3`]);
  });

  test("past 1,000 series are counted as other, with their kind", async () => {
    const series = await seriesOf((metrics) => {
      for (let index = 0; index < 1_500; index++) metrics.count("acme", `I${index}`, "offer");
      for (let index = 0; index < 1_500; index++) metrics.count(`registrar-${index}`, "EUR", "direct");
      // A further kind of a counted instrument is a further series.
      metrics.count("acme", "I0", "self");
      metrics.count("acme", "I0", "offer");
    });
    // The series of "other" are three of the 1,000.
    expect(series).toHaveLength(1_000);
    const others = series.filter((one) => one.startsWith("other"));
    expect(others).toEqual(["other other offer 503", "other other direct 1500", "other other self 1"]);
    expect(series).toEqual(expect.arrayContaining(["acme I0 offer 2", "acme I996 offer 1"]));
  });

  test("of long labels are other, of an instrument that a registry does not name unknown", async () => {
    const series = await seriesOf((metrics) => {
      metrics.count("a".repeat(300), "b".repeat(301), "offer");
      metrics.count("a".repeat(301), "EUR", "offer");
      metrics.count("acme", undefined, "self");
      // A module in JavaScript.
      metrics.count("acme", 5 as never, "self");
      metrics.count("acme", "EUR", "gift" as never);
    });
    expect(series).toEqual([`${"a".repeat(300)} other offer 1`, "other EUR offer 1", "acme unknown self 2"]);
  });
});

test("a metrics port that is in use stops the start, and the error names the setting", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  expect((await start({})).metricsUrl).toBeUndefined();
  await expect(start({ metricsPort: { host: "127.0.0.1", port } })).rejects.toThrow(
    /^OFFLEDGER_METRICS_PORT.* EADDRINUSE/,
  );
});

test("the history has the points of an hour, at most 720, oldest first; the last is of now", async () => {
  let samples = 0;
  const status = () => ({
    offset: ++samples,
    age: 1.5,
    reconnects: 2,
    isLeader: undefined,
    pool: undefined,
    heapShare: undefined,
    foreign: undefined,
  });
  const history = new FreshnessHistory(status, () => samples * 1_000, 1);
  expect(history.points()).toMatchObject([
    { time: { seconds: 1n }, offset: 1n, age: { seconds: 0n, nanos: 2_000_000 }, reconnects: 2n },
  ]);
  await until("more than 800 samples were taken", () => samples > 800);
  history.close();
  const points = history.points();
  const first = samples - 719;
  expect(points.map(({ offset, time }) => [Number(offset), Number(time?.seconds)])).toEqual(
    Array.from({ length: 720 }, (_, at) => [first + at, first + at]),
  );
  await pause(50);
  expect(samples).toBe(first + 719);
});
