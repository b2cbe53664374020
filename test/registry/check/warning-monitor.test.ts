/** When the registry is checked: on request, at most once a minute, one scan at a time. */
import { expect, onTestFinished, test } from "vitest";
import { WarningMonitor } from "../../../src/registry/check/warning-monitor.js";
import type { Check, Warning } from "../../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { NotReady, type StoreReader } from "../../../src/state/port.js";
import { apple, fruit } from "../../fixtures/fruits.js";
import { until } from "../../fixtures/wait.js";

const MINUTE = 60_000;
const START = 1_000_000;
/** How long a caller waits: longer than any of these scans. */
const WAIT = 45_000;

const warning: Warning = {
  kind: "rule-missing",
  registrar: "registrar",
  operations: ["settlement-factory"],
  problem: "a is an apple",
  help: "Eat it",
};
/** Warns of every apple. */
const check: Check = {
  template: apple,
  warnings: (_context, contracts) =>
    contracts.map(({ contractId }) => ({ ...warning, contractId, problem: `${contractId} is an apple` })),
};

/** It rests a second and more after each of some steps. */
const slow: Check = {
  ...check,
  warnings(...step) {
    const end = performance.now() + 60;
    while (performance.now() < end) continue;
    return check.warnings(...step);
  },
};
const MANY = Array.from({ length: 1_000 }, (_, index) => fruit(`a${index}`));

async function monitored(checked: Check = check, contracts = [fruit("a")]) {
  const store = new MemoryStore();
  await store.replace(contracts, 5);
  const logged: string[] = [];
  const state = {
    now: START,
    elapsed: 0,
    scans: 0,
    standing: [] as readonly Warning[],
    /** What its only check begins with. */
    ids: (): readonly string[] => store.ids(apple),
  };
  const reader: StoreReader = {
    read: (use) => store.read(use),
    ids() {
      state.scans++;
      return state.ids();
    },
  };
  const monitor = new WarningMonitor({
    checks: [checked],
    reader,
    standing: () => state.standing,
    credentialDays: 30,
    now: () => state.now,
    clock: () => state.elapsed,
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
  expect(await monitor.current(WAIT)).toMatchObject({
    checkedAt: START,
    offset: 5,
    total: 1,
    counts: { "rule-missing": 1, "registrar-not-served": 0 },
    warnings: [{ contractId: "a" }],
  });
  expect(state.scans).toBe(1);
});

test("reports what is found without a scan, as long as it lasts", async () => {
  const { monitor, state } = await monitored();
  state.standing = [{ ...warning, kind: "no-registrar", registrar: "" }];
  expect(await monitor.current(WAIT)).toMatchObject({ total: 2, counts: { "no-registrar": 1, "rule-missing": 1 } });
  state.standing = [];
  state.elapsed += MINUTE;
  expect(await monitor.current(WAIT)).toMatchObject({ total: 1, counts: { "no-registrar": 0, "rule-missing": 1 } });
});

test("scans again a minute after the last start, wherever the clock was set meanwhile", async () => {
  const { monitor, state, store } = await monitored();
  await monitor.current(WAIT);
  await store.apply([{ active: fruit("b") }], 6);
  state.elapsed += MINUTE - 1;
  for (const hours of [0, 1, -1]) {
    state.now = START + 60 * hours * MINUTE;
    expect(await monitor.current(WAIT)).toMatchObject({ total: 1 });
  }
  expect(state.scans).toBe(1);
  state.elapsed += 1;
  // The latest report, until the next is there.
  expect(monitor.latest()).toMatchObject({ total: 1 });
  expect(await monitor.current(WAIT)).toMatchObject({ total: 2, checkedAt: START - 60 * MINUTE });
  expect(state.scans).toBe(2);
});

test("runs one scan at a time, and does not wait longer than asked", async () => {
  const { monitor, state } = await monitored(slow, MANY);
  for (let times = 0; times < 3; times++) {
    expect(await monitor.current(1)).toBeUndefined();
    state.elapsed += 10 * MINUTE;
  }
  expect(monitor.latest()).toBeUndefined();
  expect(state.scans).toBe(1);
});

test("before there is a state it tries again at each request, and logs nothing", async () => {
  const { monitor, state, store, logged } = await monitored();
  state.ids = () => {
    throw new NotReady();
  };
  for (const scans of [1, 2]) {
    expect(await monitor.current(WAIT)).toBeUndefined();
    expect(state.scans).toBe(scans);
  }
  state.ids = () => store.ids(apple);
  expect(await monitor.current(WAIT)).toMatchObject({ total: 1 });
  expect(logged).toEqual([]);
});

test("a store that cannot be read is logged once, and the latest report stays", async () => {
  const { monitor, state, store, logged } = await monitored();
  await monitor.current(WAIT);
  const fail = () => {
    throw new Error("the store is away");
  };
  const message = 'warnings not checked; the latest ones are kept {"reason":"the store is away"}';
  for (const ids of [fail, fail, fail]) {
    state.ids = ids;
    state.elapsed += MINUTE;
    expect(await monitor.current(WAIT)).toMatchObject({ total: 1, checkedAt: START });
  }
  expect(logged).toEqual([message]);
  state.ids = () => store.ids(apple);
  state.elapsed += MINUTE;
  state.now += 4 * MINUTE;
  expect(await monitor.current(WAIT)).toMatchObject({ checkedAt: START + 4 * MINUTE });
  state.ids = fail;
  state.elapsed += MINUTE;
  await monitor.current(WAIT);
  expect(logged).toEqual([message, message]);
});

test("lists at most 100 of each kind", async () => {
  const { monitor } = await monitored(check, MANY.slice(0, 150));
  const report = await monitor.current(WAIT);
  expect(report?.warnings).toHaveLength(100);
  expect(report).toMatchObject({ total: 150, counts: { "rule-missing": 150 } });
});

test("closing ends a scan within its rests, and no scan starts afterwards", async () => {
  const { monitor, state } = await monitored(slow, MANY);
  monitor.latest();
  await until("it scans", () => state.scans === 1);
  await monitor.close();
  state.elapsed += 10 * MINUTE;
  expect(await monitor.current(WAIT)).toBeUndefined();
  expect(state.scans).toBe(1);
});
