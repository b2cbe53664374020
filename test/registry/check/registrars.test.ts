/** A state without registrars is told, for as long as it lasts. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, type TestContext, test } from "vitest";
import { RegistrarMonitor } from "../../../src/registry/check/registrars.js";
import type { Inventory } from "../../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { apple, fruit } from "../../fixtures/fruits.js";
import { until } from "../../fixtures/wait.js";

const PARTIES = ["operator::1220"];
const VISIBLE = fruit("a");

/** Every apple is a registrar. */
function monitored({ onTestFinished }: TestContext, ofFile = false) {
  const store = new MemoryStore();
  const logged: string[] = [];
  const note = (level: string) => (_details: object, message: string) => void logged.push(`${level} ${message}`);
  const log = { info: note("info"), warn: note("warn"), error: note("error") };
  const state = { reads: 0, fails: false };
  const inventory = (view: Parameters<Parameters<typeof store.read>[0]>[0]): Inventory => {
    state.reads++;
    if (state.fails) throw new Error("the store is away");
    const registrars = view.all(apple).map(({ contractId }) => ({ party: contractId, instruments: [] }));
    const counts = registrars.map(({ party }) => ({ qualifiedName: party, count: 1 }));
    return { registrars, counts };
  };
  const registry = { inventory: (view: Parameters<typeof inventory>[0]) => inventory(view) };
  const source = { changes: store.changes, reader: store, parties: () => (ofFile ? undefined : PARTIES) };
  const clock = () => performance.now();
  const monitor = new RegistrarMonitor({ registry, source, now: Date.now, clock, log });
  onTestFinished(() => monitor.close());
  const kinds = () => monitor.warnings().map(({ kind }) => kind);
  const looked = async () => {
    const { reads } = state;
    await until("it has looked", () => state.reads > reads);
  };
  return { store, logged, state, monitor, kinds, looked };
}

const LOST = "error all registrars are lost: answers are 404";
const BACK = "info registrars are served again";
const NONE =
  "warn OFFLEDGER_LEDGER_PARTIES: no contract of the registry is visible to operator::1220. Check the ids of the parties, " +
  "and that this participant hosts them.";

describe("a snapshot without registrars", () => {
  test.concurrent("after one that had some is an incident and a warning, and its parties are checked, until one comes", async (context) => {
    const { expect } = context;
    const { store, logged, kinds, looked, monitor } = monitored(context);
    await store.replace([VISIBLE], 10);
    await looked();
    expect([kinds(), logged]).toEqual([[], []]);
    await store.replace([], 3);
    await until("it is noticed", () => kinds().length > 0);
    expect(monitor.warnings()).toMatchObject([
      {
        kind: "no-registrar",
        refusal: "not-found",
        problem: "no contract of a registrar is visible to operator::1220",
        help: expect.stringContaining("participant") as string,
      },
    ]);
    expect(logged).toEqual([NONE, LOST]);
    // It lasts, also over a further snapshot and updates of others, and is logged once.
    await store.replace([], 4);
    await looked();
    await store.apply([], 5);
    await looked();
    expect([kinds(), logged]).toEqual([["no-registrar"], [NONE, LOST]]);
    await store.apply([{ active: fruit("b") }], 6);
    await until("it is over", () => kinds().length === 0);
    expect(logged).toEqual([NONE, LOST, BACK]);
    await store.replace([], 7);
    await until("it is noticed again", () => kinds().length > 0);
    expect(logged.filter((line) => line === LOST)).toHaveLength(2);
  });

  test.concurrent("at first is a warning if it is of a participant, but no incident: a new ledger has none yet", async (context) => {
    const { expect } = context;
    const { store, logged, kinds } = monitored(context);
    await store.replace([], 1);
    await until("it is noticed", () => kinds().length > 0);
    expect(logged).toEqual([NONE]);
    await store.replace([VISIBLE], 2);
    await until("it is over", () => kinds().length === 0);
  });

  test.concurrent("at first is nothing if it is of a file, and is an incident after one that had some", async (context) => {
    const { expect } = context;
    const { store, logged, kinds, looked } = monitored(context, true);
    await store.replace([], 1);
    await looked();
    expect([kinds(), logged]).toEqual([[], []]);
    await store.replace([VISIBLE], 2);
    await looked();
    await store.replace([], 3);
    await until("it is noticed", () => kinds().length > 0);
    expect(logged).toEqual([LOST]);
  });
});

test.concurrent("between snapshots a served registry is not read", async (context) => {
  const { expect } = context;
  const { store, state, looked } = monitored(context);
  await store.replace([VISIBLE], 1);
  await looked();
  for (let offset = 2; offset < 5; offset++) {
    await store.apply([{ active: fruit(`f${offset}`) }], offset);
    await delay(500);
  }
  expect(state.reads).toBe(1);
});

test.concurrent("a store that cannot be read is looked at again, and logged once", async (context) => {
  const { expect } = context;
  const { store, state, logged, kinds, looked } = monitored(context);
  state.fails = true;
  await store.replace([], 1);
  await looked();
  await looked();
  expect(logged).toEqual(["warn registrars not looked for; retrying"]);
  state.fails = false;
  await until("it is noticed", () => kinds().length > 0);
});
