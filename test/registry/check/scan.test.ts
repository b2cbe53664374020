/** Checks that are read beside the requests: in short steps with rests, and of a bounded part of the store. */
import { describe, expect, test, vi } from "vitest";
import type { Contract } from "../../../src/domain/contract.js";
import {
  type CheckedInventory,
  MAX_KEPT,
  scanInventory,
  scanWarnings,
  WarningCollector,
} from "../../../src/registry/check/scan.js";
import type { Check, Inventory, Registry, Warning } from "../../../src/registry/sdk/registry.js";
import { findings } from "../../../src/domain/causes.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import type { StoreReader, View } from "../../../src/state/port.js";
import { element, payload } from "../../fixtures/elements.js";
import { apple, fruit } from "../../fixtures/fruits.js";
import { storeOf, utility } from "../../fixtures/in-memory.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { ownRegistry } from "../../fixtures/own-registry.js";

const options = () => ({
  credentialDays: 30,
  now: () => Date.parse("2026-06-01T00:00:00Z"),
  pause: vi.fn<(milliseconds: number) => Promise<void>>(() => Promise.resolve()),
  signal: new AbortController().signal,
});

async function fruitStore(count: number): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.replace(
    Array.from({ length: count }, (_, index) => fruit(`a${index}`, { labels: [] })),
    7,
  );
  return store;
}

/** A check that keeps the ids of each step, and does something in it. */
function seeing(during: (contracts: readonly Contract[]) => void = () => undefined) {
  const steps: string[][] = [];
  const check: Check = {
    template: apple,
    warnings(_context, contracts) {
      steps.push(contracts.map(({ contractId }) => contractId));
      during(contracts);
      return [];
    },
  };
  return { check, steps, sizes: () => steps.map((ids) => ids.length) };
}

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) continue;
}

describe("steps", () => {
  test("have at most 100 contracts, each contract once, and a rest after each", async () => {
    const { check, steps, sizes } = seeing();
    const given = options();
    expect(await scanWarnings(await fruitStore(250), [check], given)).toMatchObject({ offset: 7, unchecked: 0 });
    expect(sizes()[0]).toBe(25);
    expect(Math.max(...sizes())).toBeLessThanOrEqual(100);
    expect(steps.flat()).toHaveLength(250);
    expect(new Set(steps.flat()).size).toBe(250);
    expect(given.pause.mock.calls).toHaveLength(steps.length);
  });

  test("become smaller when they take long, down to 10 contracts", async () => {
    const { check, sizes } = seeing(({ length }) => busy(length));
    await scanWarnings(await fruitStore(67), [check], options());
    expect(sizes()).toEqual([25, 12, 10, 10, 10]);
  });

  test("rest nineteen times as long as they take", async () => {
    const given = options();
    await scanWarnings(await fruitStore(1), [seeing(() => busy(20)).check], given);
    expect(given.pause.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(19 * 20);
  });

  test("leave out contracts that were archived since they were listed", async () => {
    const store = await fruitStore(150);
    const { check, steps } = seeing();
    const pause = () => store.apply([{ archived: "a120" }], 8);
    await scanWarnings(store, [check], { ...options(), pause });
    expect(steps.flat()).toHaveLength(149);
    expect(steps.flat()).not.toContain("a120");
  });

  test("end after an abort", async () => {
    const end = new AbortController();
    const { check, steps } = seeing(() => (steps.length === 2 ? end.abort() : undefined));
    await scanWarnings(await fruitStore(500), [check, check], { ...options(), signal: end.signal });
    expect(steps).toHaveLength(2);
  });
});

describe("a check of all contracts together", () => {
  /** It counts the contracts. */
  function counting() {
    const conclude = vi.fn<(context: unknown, observed: readonly number[]) => readonly []>(() => []);
    const overall = { observe: (_context: unknown, contracts: readonly Contract[]) => contracts.length, conclude };
    const check: Check<unknown, number> = { template: apple, warnings: () => [], overall };
    return { check, conclude };
  }

  test.each([0, 250])("concludes once from what the steps observed: of %d contracts", async (count) => {
    const { check, conclude } = counting();
    await scanWarnings(await fruitStore(count), [check], options());
    expect(conclude.mock.calls).toHaveLength(1);
    expect(conclude.mock.calls[0]?.[1].reduce((sum, one) => sum + one, 0)).toBe(count);
  });

  test("concludes nothing from a part, nor after an abort", async () => {
    const store = await fruitStore(50);
    const { check, conclude } = counting();
    const few = await scanWarnings(store, [check], { ...options(), maxContracts: 49 });
    expect(few.unchecked).toBe(1);
    const end = new AbortController();
    await scanWarnings(store, [check], { ...options(), pause: async () => end.abort(), signal: end.signal });
    expect(conclude).not.toHaveBeenCalled();
  });
});

describe("warnings", () => {
  const warning = (more: Partial<Warning> = {}): Warning => ({
    kind: "rule-missing",
    registrar: "registrar",
    operations: ["settlement-factory"],
    refusal: "not-found",
    problem: "there is no rule",
    help: "Create one",
    ...more,
  });
  function collected(...warnings: readonly Partial<Warning>[]): WarningCollector {
    const collector = new WarningCollector();
    for (const one of warnings) collector.add(warning(one));
    return collector;
  }

  test("of one cause are one, with all operations, and the first as the example", () => {
    const other = { operations: ["allocation-factory", "settlement-factory"], contractId: "a", count: 3 };
    const found = collected({ instrument: "USD" }, other, { instrument: "EUR", party: "alice" });
    const operations = ["settlement-factory", "allocation-factory"];
    expect(found.warnings()).toEqual([warning({ instrument: "USD", operations, count: 5 })]);
    expect(found.total).toBe(1);
  });

  test.each<Partial<Warning>>([
    { kind: "registrar-not-served" },
    { registrar: "other" },
    { refusal: undefined },
    { problem: "other" },
  ])("that differ in %j are apart", (more) => {
    expect(collected({}, more).total).toBe(2);
  });

  test("of every kind are counted, and listed in a fixed order", () => {
    const found = collected({ kind: "credential-expires" }, { kind: "registrar-not-served" });
    expect(found.warnings().map(({ kind }) => kind)).toEqual(["registrar-not-served", "credential-expires"]);
    const none = Object.fromEntries(Object.keys(findings).map((kind) => [kind, 0]));
    expect(found.counts).toEqual({ ...none, "registrar-not-served": 1, "credential-expires": 1 });
  });

  test("beyond 1,000 of a kind are counted", () => {
    const found = collected(...Array.from({ length: 1_500 }, (_, id) => ({ problem: String(id) })));
    found.add(warning({ problem: "0", operations: ["allocation-factory"] }));
    found.add(warning({ kind: "registrar-not-served" }));
    expect([MAX_KEPT, found.counts["rule-missing"], found.total]).toEqual([1_000, 1_500, 1_501]);
    expect(found.warnings()).toHaveLength(1_001);
    expect(found.warnings(2).map(({ problem }) => problem)).toEqual(["there is no rule", "0", "1"]);
  });

  test("of kinds of a module are counted, up to a bound", () => {
    const found = collected(...Array.from({ length: 300 }, (_, id) => ({ kind: `own-${id}`, problem: String(id) })));
    expect(found.counts).toMatchObject({ "own-0": 1, other: expect.any(Number) as number });
    expect([found.total, found.warnings().length, Object.keys(found.counts).length]).toEqual([300, 300, 201]);
  });
});

describe("the inventory", () => {
  /** Of a registry with so many offers that lack their locked holding, besides one that has it. */
  async function scanOf(offers: number): Promise<StoreReader> {
    const added = Array.from({ length: offers }, (_, index) =>
      element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
    );
    return await storeOf(completeElements({ added }));
  }
  const inventoryOf = (
    scan: StoreReader,
    registry: Registry = utility,
    signal = options().signal,
  ): Promise<CheckedInventory> => scanInventory(scan, registry, { ...options(), maxContracts: 1_000, signal });
  const offersOf = ({ counts }: Inventory) =>
    counts.find(({ qualifiedName }) => qualifiedName.endsWith(":TransferOffer"))?.count;

  test("has everything, up to the limit", async () => {
    const found = await inventoryOf(await scanOf(999));
    expect(offersOf(found)).toBe(1_000);
    expect([found.warningCounts["holding-missing"], found.warnings.length]).toEqual([999, 999]);
    expect(found.unchecked).toBe(0);
    const instruments = [{ source: "registrar::1220", id: "USD", scheme: "Internal" }];
    expect(found.registrars).toEqual([{ party: "registrar::1220", instruments }]);
  });

  test("counts the others past it", async () => {
    const found = await inventoryOf(await scanOf(1_500));
    expect([offersOf(found), found.unchecked]).toEqual([1_501, 501]);
    expect([999, 1_000]).toContain(found.warningCounts["holding-missing"]);
  });

  test("reads no template of pending instructions as a whole", async () => {
    const scan = await scanOf(20);
    const listed = new Set<string>();
    const watched = (view: View): View =>
      new Proxy(view, {
        get(target, name) {
          const method = Reflect.get(target, name, target) as unknown;
          if (typeof method !== "function") return method;
          return (...args: [{ qualifiedName: string }]) => {
            if (name === "all") listed.add(args[0].qualifiedName.replace(/^.*:/, ""));
            return Reflect.apply(method, target, args) as unknown;
          };
        },
      });
    const read: StoreReader["read"] = (use) => scan.read((view) => use(watched(view)));
    const found = await inventoryOf({ ids: (template) => scan.ids(template), read });
    expect(found.warningCounts["holding-missing"]).toBe(20);
    expect([...listed].toSorted()).toEqual(["AllocationFactory", "InstrumentConfiguration"]);
  });

  test("ends early when it is stopped", async () => {
    expect((await inventoryOf(await scanOf(20), utility, AbortSignal.abort())).warnings).toEqual([]);
  });

  test("has the sentences of a module beside what its checks find", async () => {
    const inventory: Inventory = { registrars: [], counts: [], warnings: ["a sentence"] };
    const own = { ...ownRegistry, inventory: () => inventory };
    const { warnings } = await inventoryOf(await scanOf(1), { ...own, checks: utility.checks ?? [] });
    expect(warnings).toMatchObject(["a sentence", { kind: "holding-missing" }]);
  });
});
