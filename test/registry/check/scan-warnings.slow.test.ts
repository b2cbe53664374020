/** The scan in the background: short steps with rests, on every store. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import type { Check, Registry } from "../../../src/registry/sdk/registry.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { StoreScan } from "../../../src/store/port.js";
import { Replica, SCAN_LIMITS } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import { parse } from "yaml";
import { type Defect, defectsAt } from "../../fixtures/defects.js";
import { element, parties, payload, requirement } from "../../fixtures/elements.js";
import { apple, fruit } from "../../fixtures/fruits.js";
import { ForgetfulReader } from "../../fixtures/forgetful-reader.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const options = () => ({
  credentialDays: 30,
  now: () => NOW,
  pause: vi.fn<(milliseconds: number) => Promise<void>>(() => Promise.resolve()),
  signal: new AbortController().signal,
});

const registryWith = (contexts = ""): Registry =>
  utilityRegistry({
    settlementLimits: MIN_SETTLEMENT_LIMITS,
    contexts: compileContexts(parse(contexts) ?? undefined),
  });

async function storeOf({ elements }: Pick<Defect, "elements">, { templates }: Registry): Promise<MemoryStore> {
  const file = elements.map((one) => `${JSON.stringify(one)}\n`).join("");
  const { contracts, problems } = parseSnapshot(file, new Decoder(templates));
  expect(problems).toEqual([]);
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  return store;
}

const someFruits = (count: number) => Array.from({ length: count }, (_, index) => fruit(`a${index}`, { labels: [] }));

describe("steps", () => {
  test("have at most 100 contracts, each contract once, and a rest after each", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(250), 7);
    const steps: number[] = [];
    const seen = new Set<string>();
    const check: Check = {
      template: apple,
      warnings(_context, contracts) {
        steps.push(contracts.length);
        for (const { contractId } of contracts) seen.add(contractId);
        return [];
      },
    };
    const given = options();
    const { isComplete, offset } = await scanWarnings(store.openScan(), [check], given);
    expect(steps.reduce((sum, size) => sum + size, 0)).toBe(250);
    expect(Math.max(...steps)).toBeLessThanOrEqual(100);
    expect(steps[0]).toBe(25);
    expect(seen.size).toBe(250);
    expect({ isComplete, offset }).toEqual({ isComplete: true, offset: 7 });
    expect(given.pause.mock.calls).toHaveLength(steps.length);
  });

  test("become smaller when they take long, down to 10 contracts", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(67), 1);
    const steps: number[] = [];
    const check: Check = {
      template: apple,
      warnings(_context, contracts) {
        steps.push(contracts.length);
        const until = performance.now() + contracts.length;
        while (performance.now() < until) continue;
        return [];
      },
    };
    await scanWarnings(store.openScan(), [check], options());
    expect(steps).toEqual([25, 12, 10, 10, 10]);
  });

  test("rest nineteen times as long as they take", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(1), 1);
    const busy = 20;
    const check: Check = {
      template: apple,
      warnings() {
        const until = performance.now() + busy;
        while (performance.now() < until) continue;
        return [];
      },
    };
    const given = options();
    await scanWarnings(store.openScan(), [check], given);
    expect(given.pause.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(19 * busy);
  });

  test("rest four times as long as they wait for a database", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(1), 1);
    const scan = store.openScan();
    const waiting: StoreScan = {
      ids: (template) => scan.ids(template),
      async read(use) {
        await delay(50);
        return scan.read(use);
      },
    };
    const given = options();
    await scanWarnings(waiting, [{ template: apple, warnings: () => [] }], given);
    // A timer may fire a millisecond early.
    expect(given.pause.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(4 * 49);
  });

  test("leave out contracts that were archived since they were listed", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(150), 1);
    const seen: string[] = [];
    const check: Check = {
      template: apple,
      warnings(_context, contracts) {
        seen.push(...contracts.map(({ contractId }) => contractId));
        return [];
      },
    };
    const archive = async () => {
      await store.apply([{ archived: "a120" }], 2);
    };
    await scanWarnings(store.openScan(), [check], { ...options(), pause: archive });
    expect(seen).toHaveLength(149);
    expect(seen).not.toContain("a120");
  });

  test("end after an abort", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(500), 1);
    const end = new AbortController();
    let steps = 0;
    const check: Check = {
      template: apple,
      warnings() {
        if (++steps === 2) end.abort();
        return [];
      },
    };
    await scanWarnings(store.openScan(), [check, check], { ...options(), signal: end.signal });
    expect(steps).toBe(2);
  });
});

/** A check that counts the contracts. */
const counting = (conclude: (observed: readonly number[]) => readonly []): Check<unknown, number> => ({
  template: apple,
  warnings: () => [],
  overall: {
    observe: (_context, contracts) => contracts.length,
    conclude: (_context, observed) => conclude(observed),
  },
});

describe("a check of all contracts together", () => {
  test.each([0, 250])("concludes once from what the steps observed: of %d contracts", async (count) => {
    const store = new MemoryStore();
    await store.replace(someFruits(count), 7);
    const conclude = vi.fn<(observed: readonly number[]) => readonly []>(() => []);
    await scanWarnings(store.openScan(), [counting(conclude)], options());
    expect(conclude.mock.calls).toHaveLength(1);
    expect(conclude.mock.calls[0]?.[0].reduce((sum, one) => sum + one, 0)).toBe(count);
  });

  test("concludes nothing from a part, nor after an abort", async () => {
    const store = new MemoryStore();
    await store.replace(someFruits(50), 7);
    const scan = store.openScan();
    const conclude = vi.fn<(observed: readonly number[]) => readonly []>(() => []);
    await scanWarnings(scan, [counting(conclude)], { ...options(), maxContracts: 49 });
    const partly: StoreScan = {
      ids: async (template) => ({ ...(await scan.ids(template)), isComplete: false }),
      read: (use) => scan.read(use),
    };
    await scanWarnings(partly, [counting(conclude)], options());
    const end = new AbortController();
    const pause = async () => end.abort();
    await scanWarnings(scan, [counting(conclude)], { ...options(), pause, signal: end.signal });
    expect(conclude).not.toHaveBeenCalled();
  });
});

describe("on a database", () => {
  let schema: Schema;
  beforeAll(async () => {
    schema = await freshSchema();
  });
  afterAll(() => schema.drop());

  async function replicaOf(store: MemoryStore, { templates }: Registry): Promise<Replica> {
    await schema.empty();
    const content = { contentId: "tests", origin: "tests" };
    const writer = await PostgresWriter.begin(schema.database, 0, content, () => undefined);
    await writer.replace(
      store.read((view) => templates.flatMap((template) => view.all(template))),
      10,
    );
    return new Replica(schema.database, { templates, contentId: "tests", cacheBytes: 1_000_000, clock });
  }

  test.each(Object.entries(defectsAt(NOW)))("finds what a scan of the memory finds: %s", async (_name, defect) => {
    const registry = registryWith(defect.contexts);
    const store = await storeOf(defect, registry);
    const replica = await replicaOf(store, registry);
    const inMemory = await scanWarnings(store.openScan(), registry.checks ?? [], options());
    const onDatabase = await scanWarnings(replica.openScan(), registry.checks ?? [], options());
    const byText = (result: typeof inMemory) =>
      result.found
        .warnings()
        .map((one) => JSON.stringify(one))
        .toSorted();
    expect(byText(onDatabase)).toEqual(byText(inMemory));
    expect(onDatabase.offset).toBe(10);
    const inventory = store.read((view) => registry.inventory(view, { now: NOW, credentialDays: 30 }));
    expect(inventory.warnings.map((one) => JSON.stringify(one)).toSorted()).toEqual(byText(inMemory));
  });

  test("a step takes a few queries, however many contracts it has", async () => {
    const registry = registryWith();
    const many = Array.from({ length: 250 }, (_, index) => [
      element("TransferOffer", `offer-${index}`, payload.offer(`party-${index}`, "bob", "USD", `held-${index}`)),
      element("Holding", `held-${index}`, payload.lockedHolding(`party-${index}`, "USD")),
      element("DvpLegAllocation", `leg-${index}`, payload.allocation("alice", `party-${index}`, "USD", "locked")),
      element(
        "InstrumentConfiguration",
        `config-${index}`,
        payload.configuration(`I${index}`, {
          additionalIdentifiers: [{ source: parties.registrar, id: `also-${index}`, scheme: "Internal" }],
          holderRequirements: [requirement(["a=1", "b=2"])],
        }),
      ),
      element("Credential", `a-${index}`, payload.credential(`party-${index}`, ["a=1"])),
      element("Credential", `b-${index}`, payload.credential(`party-${index}`, ["b=2"])),
      element("AllocationFactory", `factory-${index}`, payload.service({ registrar: `registrar-${index}` })),
    ]).flat();
    const store = await storeOf({ elements: completeElements({ added: many }) }, registry);
    const replica = await replicaOf(store, registry);
    const queries = vi.spyOn(schema.database, "query");
    const given = options();
    const { found } = await scanWarnings(replica.openScan(), registry.checks ?? [], given);
    expect(found.counts).toMatchObject({
      "credentials-missing": 500,
      "credentials-split": 250,
      "requirement-unmet": 1,
      "no-configuration": 250,
    });
    // Nine templates are listed; the steps are those after which it rests.
    const steps = given.pause.mock.calls.length;
    expect(steps).toBeLessThan(1_750 / 10);
    expect(queries.mock.calls.length).toBeLessThanOrEqual(9 + steps * 6);
    queries.mockRestore();
  });
});

test("the inventory takes few round trips on a store that has forgotten everything", async () => {
  const registry = registryWith();
  const many = Array.from({ length: 50 }, (_, index) =>
    element("TransferOffer", `offer-${index}`, payload.offer(`party-${index}`, "bob", "USD", "locked")),
  );
  const store = await storeOf({ elements: completeElements({ added: many }) }, registry);
  const inventory = { now: NOW, credentialDays: 30 };
  const inMemory = store.read((view) => registry.inventory(view, inventory));
  const cold = new ForgetfulReader(store, { templates: registry.templates, limits: SCAN_LIMITS });
  expect(await cold.read((view) => registry.inventory(view, inventory))).toEqual(inMemory);
  expect(cold.trips[0]).toBeLessThanOrEqual(20);
  expect(inMemory.warningCounts).toMatchObject({ "credentials-missing": 50 });
});
