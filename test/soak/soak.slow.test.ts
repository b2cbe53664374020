/** A soak of two minutes, and one with a wrong model. Needs `npm run build`. */
import { expect, test } from "vitest";
import { abortAfter } from "../../src/util/async.js";
import { computeGrowth, findExcessGrowth, findFailures, type Memory, type Report, renderReport } from "./report.js";
import { soak, type SoakOptions } from "./soak.js";

const MB = 2 ** 20;

const runSoak = async (more: Partial<SoakOptions>): Promise<Report> => {
  const options: SoakOptions = {
    seed: 20_260_105,
    milliseconds: 120_000,
    warmUpMs: 40_000,
    rate: 30,
    faultIntervalMs: 15_000,
    // Longer than the staleness limit.
    maxSilenceMs: 25_000,
    archivals: 20_000,
    // Buffers and compiled code still grow after a warm-up so short.
    maxGrowth: 0.3,
    print: () => undefined,
    ...more,
  };
  return abortAfter(options.milliseconds + 60_000, new AbortController().signal, (signal) => soak(options, signal));
};

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

test("two minutes run all parts of a soak and find no failures", async () => {
  const report = await runSoak({});
  expect(findFailures(report)).toEqual([]);
  expect(report.growth).toBeDefined();
  expect(Object.keys(report.requests)).toEqual(
    expect.arrayContaining([
      "REST",
      "Connect JSON",
      "Connect binary",
      "gRPC",
      "gRPC-Web",
      "slow HTTP/1.1",
      "slow gRPC",
    ]),
  );
  expect(report.responses["ok"]).toBeGreaterThan(500);
  expect(sum(report.ledgerChanges)).toBeGreaterThan(500);
  expect(report.faults["pruned"]).toBe(1);
  expect(Object.keys(report.cachedClients)).toEqual(
    expect.arrayContaining(["fetched", "used", "not modified", "changed", "reset"]),
  );
  expect(sum(report.slowClients)).toBeGreaterThanOrEqual(50);
  expect(renderReport(report)).toMatch(/^wrong responses +0$/m);
}, 240_000);

test("responses that differ from the model are reported", async () => {
  const report = await runSoak({ isModelWrong: true, milliseconds: 5_000, warmUpMs: 1_500, archivals: 1_000 });
  expect(report.wrongResponses).toBeGreaterThan(0);
  expect(findFailures(report).join("\n")).toMatch(/response [^]*expected [^]*"another/);
}, 120_000);

const samples = (from: number, to: number): Memory[] =>
  Array.from({ length: 20 }, (_, index) => {
    const value = (from + ((to - from) * index) / 19) * MB;
    // Requests in flight add to some samples.
    return { heap: value + (index % 7 === 0 ? 50 * MB : 0), rss: 3 * value };
  });

test.each([
  [100, 108, []],
  [100, 50, []],
  [100, 125, ["heap grew from 103.9 MB to 122.4 MB", "rss grew from 307.9 MB to 367.1 MB"]],
])("memory that grows from %d to %d MB", (from, to, found) => {
  const growth = computeGrowth(samples(from, to), 0.1);
  expect(growth === undefined ? undefined : findExcessGrowth(growth)).toEqual(found);
});

test("growth is undefined with too few samples", () => {
  expect(computeGrowth(samples(100, 200).slice(0, 9), 0.1)).toBeUndefined();
});
