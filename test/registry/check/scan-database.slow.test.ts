/** Checks on a database, and on a store that has forgotten everything: the same warnings, in few round trips. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { StoredContract } from "../../../src/domain/contract.js";
import { parse } from "yaml";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import type { Registry } from "../../../src/registry/sdk/registry.js";
import type { MemoryStore } from "../../../src/state/memory-store.js";
import { Replica, SCAN_LIMITS } from "../../../src/state/postgres/replica.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { defectsAt } from "../../fixtures/defects.js";
import { element, parties, payload, requirement } from "../../fixtures/elements.js";
import { ForgetfulReader } from "../../fixtures/forgetful-reader.js";
import { storeOf, utility, utilityWith } from "../../fixtures/in-memory.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const inventoryOptions = { now: NOW, credentialDays: 30 };
const options = () => ({
  credentialDays: 30,
  now: () => NOW,
  pause: vi.fn<(milliseconds: number) => Promise<void>>(() => Promise.resolve()),
  signal: new AbortController().signal,
});

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** The contracts of a store, in the database. */
async function replicaOf(store: MemoryStore, { templates }: Registry): Promise<Replica> {
  await schema.empty();
  const content = { contentId: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(schema.database, 0, content, () => undefined);
  await writer.replace(
    store.read((view) => templates.flatMap((template) => view.all(template) as StoredContract[])),
    10,
  );
  return new Replica(schema.database, { templates, contentId: "tests", cacheBytes: 1_000_000, clock });
}

const texts = (warnings: readonly unknown[]) => warnings.map((one) => JSON.stringify(one)).toSorted();

test.each(Object.entries(defectsAt(NOW)))("a scan finds what the inventory has: %s", async (_name, defect) => {
  const registry = utilityWith(parse(defect.contexts ?? "") ?? undefined);
  const store = await storeOf(defect.elements, registry);
  const replica = await replicaOf(store, registry);
  const { found, offset } = await scanWarnings(replica.openScan(), registry.checks ?? [], options());
  const inventory = store.read((view) => registry.inventory(view, inventoryOptions));
  expect(texts(found.warnings())).toEqual(texts(inventory.warnings));
  expect(offset).toBe(10);
});

test("a step takes a few queries, however many contracts it has", async () => {
  const claims = { holderRequirements: [requirement(["a=1", "b=2"])] };
  const many = Array.from({ length: 250 }, (_, at) => {
    const [party, also] = [`party-${at}`, { source: parties.registrar, id: `also-${at}`, scheme: "Internal" }];
    const configuration = payload.configuration(`I${at}`, { additionalIdentifiers: [also], ...claims });
    return [
      element("TransferOffer", `offer-${at}`, payload.offer(party, "bob", "USD", `held-${at}`)),
      element("Holding", `held-${at}`, payload.lockedHolding(party, "USD")),
      element("DvpLegAllocation", `leg-${at}`, payload.allocation("alice", party, "USD", "locked")),
      element("InstrumentConfiguration", `config-${at}`, configuration),
      element("Credential", `a-${at}`, payload.credential(party, ["a=1"])),
      element("Credential", `b-${at}`, payload.credential(party, ["b=2"])),
      element("AllocationFactory", `factory-${at}`, payload.service({ registrar: `registrar-${at}` })),
    ];
  }).flat();
  const replica = await replicaOf(await storeOf(completeElements({ added: many })), utility);
  const queries = vi.spyOn(schema.database, "query");
  const given = options();
  const { found } = await scanWarnings(replica.openScan(), utility.checks ?? [], given);
  const counts = {
    "credentials-missing": 500,
    "credentials-split": 250,
    "requirement-unmet": 1,
    "no-configuration": 250,
  };
  expect(found.counts).toMatchObject(counts);
  // Nine templates are listed; the steps are those after which it rests.
  const steps = given.pause.mock.calls.length;
  expect(steps).toBeLessThan(1_750 / 10);
  expect(queries.mock.calls.length).toBeLessThanOrEqual(9 + steps * 6);
  queries.mockRestore();
});

test("the inventory takes few round trips on a store that has forgotten everything", async () => {
  const added = Array.from({ length: 50 }, (_, at) =>
    element("TransferOffer", `offer-${at}`, payload.offer(`party-${at}`, "bob", "USD", "locked")),
  );
  const store = await storeOf(completeElements({ added }));
  const inMemory = store.read((view) => utility.inventory(view, inventoryOptions));
  const cold = new ForgetfulReader(store, { templates: utility.templates, limits: SCAN_LIMITS });
  expect(await cold.read((view) => utility.inventory(view, inventoryOptions))).toEqual(inMemory);
  expect(cold.trips[0]).toBeLessThanOrEqual(20);
  expect(inMemory.warningCounts).toMatchObject({ "credentials-missing": 50 });
});
