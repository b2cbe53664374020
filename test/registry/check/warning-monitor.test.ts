/** When the registry is checked: on request, at most once a minute, one scan at a time. */
import { expect, onTestFinished, test } from "vitest";
import { WarningMonitor } from "../../../src/registry/check/warning-monitor.js";
import type { Check } from "../../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { NotReady, type StoreScan } from "../../../src/store/port.js";
import { apple, fruit } from "../../fixtures/fruits.js";
import { gate, until } from "../../fixtures/wait.js";

const MINUTE = 60_000;

/** Warns of every apple. */
const check: Check = {
  template: apple,
  warnings: (_context, contracts) =>
    contracts.map(({ contractId }) => ({
      kind: "no-rule",
      registrar: "registrar",
      contractId,
      operations: ["settlement-factory"],
      problem: "it is an apple",
      remedy: "Eat it",
    })),
};

async function monitored(checks: readonly Check[] = [check]) {
  const store = new MemoryStore();
  await store.replace([fruit("a")], 5);
  const logged: string[] = [];
  const state = { now: 1_000_000, scans: 0, openScan: (): StoreScan => store.openScan() };
  const monitor = new WarningMonitor({
    checks,
    openScan() {
      state.scans++;
      return state.openScan();
    },
    credentialDays: 30,
    now: () => state.now,
    log: {
      info: () => {},
      error: () => {},
      warn: (details, message) => logged.push(`${message} ${JSON.stringify(details)}`),
    },
  });
  onTestFinished(() => monitor.close());
  return { store, state, monitor, logged };
}

test("scans when it is first asked, and reports what it finds", async () => {
  const { monitor, state } = await monitored();
  expect(state.scans).toBe(0);
  expect(monitor.latest()).toBeUndefined();
  expect(await monitor.current(5_000)).toMatchObject({
    checkedAt: 1_000_000,
    offset: 5,
    isComplete: true,
    total: 1,
    counts: { "no-rule": 1, "no-factory": 0 },
    warnings: [{ contractId: "a" }],
  });
  expect(state.scans).toBe(1);
});

test("scans again a minute after the last start", async () => {
  const { monitor, state, store } = await monitored();
  await monitor.current(5_000);
  await store.apply([{ active: fruit("b") }], 6);
  state.now += MINUTE - 1;
  expect(await monitor.current(5_000)).toMatchObject({ total: 1 });
  expect(state.scans).toBe(1);
  state.now += 1;
  // The latest report, until the next is there.
  expect(monitor.latest()).toMatchObject({ total: 1 });
  expect(await monitor.current(5_000)).toMatchObject({ total: 2, checkedAt: 1_000_000 + MINUTE });
  expect(state.scans).toBe(2);
});

test("scans again if the clock was set back", async () => {
  const { monitor, state } = await monitored();
  await monitor.current(5_000);
  state.now -= 10 * MINUTE;
  expect(await monitor.current(5_000)).toMatchObject({ checkedAt: 1_000_000 - 10 * MINUTE });
});

test("runs one scan at a time, and does not wait longer than asked", async () => {
  const { monitor, state, store } = await monitored();
  const blocked = gate();
  const scan = store.openScan();
  state.openScan = () => ({
    read: (use) => scan.read(use),
    async ids(template) {
      await blocked.opened;
      return scan.ids(template);
    },
  });
  expect(await monitor.current(1)).toBeUndefined();
  state.now += 10 * MINUTE;
  expect(await monitor.current(1)).toBeUndefined();
  expect(monitor.latest()).toBeUndefined();
  expect(state.scans).toBe(1);
  blocked.open();
  await until("the scan is finished", () => monitor.latest() !== undefined);
});

test("before there is a state it tries again at each request, and logs nothing", async () => {
  const { monitor, state, store, logged } = await monitored();
  state.openScan = () => {
    throw new NotReady();
  };
  expect(await monitor.current(5_000)).toBeUndefined();
  expect(await monitor.current(5_000)).toBeUndefined();
  expect(state.scans).toBe(2);
  state.openScan = () => store.openScan();
  expect(await monitor.current(5_000)).toMatchObject({ total: 1 });
  expect(logged).toEqual([]);
});

test("a store that cannot be read is logged once, and the latest report stays", async () => {
  const { monitor, state, store, logged } = await monitored();
  await monitor.current(5_000);
  state.openScan = () => {
    throw new Error("the store is away");
  };
  for (let times = 0; times < 3; times++) {
    state.now += MINUTE;
    expect(await monitor.current(5_000)).toMatchObject({ total: 1, checkedAt: 1_000_000 });
  }
  expect(logged).toEqual(['warnings not checked; the latest ones are kept {"reason":"the store is away"}']);
  state.openScan = () => store.openScan();
  state.now += MINUTE;
  expect(await monitor.current(5_000)).toMatchObject({ checkedAt: 1_000_000 + 4 * MINUTE });
});

test("lists at most 100 of each kind", async () => {
  const { monitor, store } = await monitored();
  await store.replace(
    Array.from({ length: 150 }, (_, index) => fruit(`a${index}`)),
    6,
  );
  const report = await monitor.current(5_000);
  expect(report?.warnings).toHaveLength(100);
  expect(report).toMatchObject({ total: 150, counts: { "no-rule": 150 } });
});

test("says that only a part was checked", async () => {
  const { monitor, state, store } = await monitored();
  const scan = store.openScan();
  state.openScan = () => ({ read: (use) => scan.read(use), ids: () => ({ ids: ["a"], isComplete: false }) });
  expect(await monitor.current(5_000)).toMatchObject({ isComplete: false, total: 1 });
});

test("closing ends a scan within its rests, and no scan starts afterwards", async () => {
  const slow: Check = {
    template: apple,
    warnings() {
      const end = performance.now() + 50;
      while (performance.now() < end) continue;
      return [];
    },
  };
  // A rest of a second after each.
  const { monitor, state } = await monitored(Array.from({ length: 100 }, () => slow));
  monitor.latest();
  await until("it scans", () => state.scans === 1);
  await monitor.close();
  state.now += 10 * MINUTE;
  expect(await monitor.current(5_000)).toBeUndefined();
  expect(state.scans).toBe(1);
});
