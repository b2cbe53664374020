/** The inventory that is read beside the requests: in short steps, and of a bounded part of the store. */
import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { scanInventory } from "../../../src/registry/check/scan.js";
import type { Inventory, Registry } from "../../../src/registry/sdk/registry.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { StoreScan, View } from "../../../src/store/port.js";
import { element, payload } from "../../fixtures/elements.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { ownRegistry } from "../../fixtures/own-registry.js";

const utility = utilityRegistry({
  settlementLimits: MIN_SETTLEMENT_LIMITS,
  contexts: compileContexts(undefined),
});

/** A scan of a registry with so many offers that lack their locked holding, besides one that has it. */
async function scanOf(offers: number): Promise<StoreScan> {
  const added = Array.from({ length: offers }, (_, index) =>
    element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
  );
  const lines = completeElements({ added }).map((one) => `${JSON.stringify(one)}\n`);
  const { contracts } = parseSnapshot(lines.join(""), new Decoder(utility.templates));
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  return store.openScan();
}

const inventoryOf = (scan: StoreScan, registry: Registry, signal?: AbortSignal): Promise<Inventory> =>
  scanInventory(scan, registry, {
    now: () => Date.parse("2026-06-01T00:00:00Z"),
    credentialDays: 30,
    maxContracts: 1_000,
    pause: () => Promise.resolve(),
    signal: signal ?? new AbortController().signal,
  });

const offerCount = ({ counts }: Inventory) =>
  counts.find(({ qualifiedName }) => qualifiedName.endsWith(":TransferOffer"))?.count;

describe("the Registry Utility", () => {
  test("up to the limit everything is checked", async () => {
    const found = await inventoryOf(await scanOf(999), utility);
    expect(offerCount(found)).toBe(1_000);
    expect(found.warningCounts?.["holding-missing"]).toBe(999);
    expect(found.warnings).toHaveLength(999);
    expect(found.unchecked).toBeUndefined();
    expect(found.registrars).toEqual([
      { party: "registrar::1220", instruments: [{ source: "registrar::1220", id: "USD", scheme: "Internal" }] },
    ]);
  });

  test("past it the others are counted", async () => {
    const found = await inventoryOf(await scanOf(1_500), utility);
    expect(offerCount(found)).toBe(1_501);
    expect(found.warningCounts?.["holding-missing"]).toBeGreaterThan(990);
    expect(found.warningCounts?.["holding-missing"]).toBeLessThanOrEqual(1_000);
    expect(found.unchecked).toBe(501);
  });

  test("no template of pending instructions is read as a whole", async () => {
    const scan = await scanOf(20);
    const listed = new Set<string>();
    const watched = (view: View): View => ({
      generation: view.generation,
      offset: view.offset,
      asOf: view.asOf,
      byId: (template, id) => view.byId(template, id),
      byKey: (template, key) => view.byKey(template, key),
      all(template) {
        listed.add(template.qualifiedName.replace(/^.*:/, ""));
        return view.all(template);
      },
      wasArchived: (id) => view.wasArchived(id),
      templateCounts: () => view.templateCounts(),
      sums: (names) => view.sums(names),
    });
    const found = await inventoryOf(
      { ids: (template) => scan.ids(template), read: (use) => scan.read((view) => use(watched(view))) },
      utility,
    );
    expect(found.warningCounts?.["holding-missing"]).toBe(20);
    expect([...listed].toSorted()).toEqual(["AllocationFactory", "InstrumentConfiguration"]);
  });

  test("it ends early when it is stopped", async () => {
    const stop = new AbortController();
    stop.abort();
    const found = await inventoryOf(await scanOf(20), utility, stop.signal);
    expect(found.warnings).toEqual([]);
  });
});

test("the inventory of a registry without limit is used as it is", async () => {
  const checks = utility.templates.map((template) => ({
    template,
    warnings: () => expect.fail("the inventory has its own warnings"),
  }));
  const inventory: Inventory = { registrars: [], counts: [], warnings: ["a sentence"] };
  const found = await inventoryOf(await scanOf(0), { ...ownRegistry, checks, inventory: () => inventory });
  expect(found).toBe(inventory);
});
