/** The soak in small: that it runs, finds nothing wrong where nothing is, and that it can. */
import { expect, test } from "vitest";
import { growthOf, type Memory, tooMuch } from "../../soak/memory.js";
import { faultsOf, type Report, tableOf } from "../../soak/report.js";
import { settingsOf } from "../../soak/settings.js";
import type { SoakOptions } from "../../soak/options.js";
import { soak } from "../../soak/soak.js";

const MB = 2 ** 20;

const small = async (more: Partial<SoakOptions> = {}): Promise<Report> => {
  const options: SoakOptions = {
    seed: 20_260_105,
    milliseconds: 5_000,
    warmUpMs: 1_500,
    rate: 60,
    cutEveryMs: 1_000,
    longestSilenceMs: 1_500,
    archivals: 1_000,
    say: () => undefined,
    ...more,
  };
  return soak(options, AbortSignal.timeout(45_000));
};

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0);

test("a soak of some seconds has every part of it do something, and finds nothing wrong", async () => {
  const report = await small();
  expect(faultsOf(report)).toEqual([]);
  expect(Object.keys(report.requests)).toEqual(
    expect.arrayContaining(["REST", "Connect JSON", "Connect binary", "gRPC", "gRPC-Web"]),
  );
  expect(report.answers["ok"]).toBeGreaterThan(50);
  expect(sum(report.changes)).toBeGreaterThan(50);
  expect(report.cuts["pruned"]).toBe(1);
  expect(sum(report.slowClients)).toBeGreaterThanOrEqual(16);
  expect(tableOf(report)).toMatch(/^wrong answers +0$/m);
}, 60_000);

test("answers that the model does not have are wrong", async () => {
  const report = await small({ isMistaken: true, milliseconds: 3_000 });
  expect(report.wrongs).toBeGreaterThan(0);
  expect(faultsOf(report).join("\n")).toMatch(/was answered [^]*in place of [^]*"another/);
}, 60_000);

const samples = (from: number, to: number): Memory[] =>
  Array.from({ length: 20 }, (_, index) => {
    const value = (from + ((to - from) * index) / 19) * MB;
    // Now and then a sample has what is on its way.
    return { heap: value + (index % 7 === 0 ? 50 * MB : 0), rss: 3 * value };
  });

test.each([
  [100, 108, []],
  [100, 50, []],
  [100, 125, ["heap has grown from 103.9 MB to 122.4 MB", "rss has grown from 307.9 MB to 367.1 MB"]],
])("memory that goes from %d to %d MB", (from, to, found) => {
  const growth = growthOf(samples(from, to));
  expect(growth === undefined ? undefined : tooMuch(growth)).toEqual(found);
});

test("what has too few samples says nothing of memory", () => {
  expect(growthOf(samples(100, 200).slice(0, 9))).toBeUndefined();
});

test.each([
  [{}, { minutes: 15 }],
  [
    { OFFLEDGER_SOAK_MINUTES: "3", OFFLEDGER_SOAK_SEED: "7" },
    { minutes: 3, seed: 7 },
  ],
])("settings are read from %o", (env, settings) => {
  expect(settingsOf(env)).toMatchObject(settings);
});

test.each([
  [{ OFFLEDGER_SOAK_MINUTES: "long" }, "OFFLEDGER_SOAK_MINUTES takes a number from 1 to 10000"],
  [{ OFFLEDGER_SOAK_SEED: "-1" }, "OFFLEDGER_SOAK_SEED takes a whole number from 0 on"],
])("a wrong setting is refused: %o", (env, says) => {
  expect(settingsOf(env)).toBe(says);
});
