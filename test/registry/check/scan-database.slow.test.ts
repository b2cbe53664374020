/** Checks of a database, in steps: the same warnings as in memory and at once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoredContract } from "../../../src/domain/contract.js";
import { parse } from "yaml";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import type { Registry } from "../../../src/registry/sdk/registry.js";
import type { MemoryStore } from "../../../src/state/memory-store.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { defectsAt } from "../../fixtures/defects.js";
import { type Followed, followerOf } from "../../fixtures/follower.js";
import { storeOf, utilityWith } from "../../fixtures/in-memory.js";
import { freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const options = () => ({
  credentialDays: 30,
  now: () => NOW,
  pause: () => Promise.resolve(),
  signal: new AbortController().signal,
});

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** The contracts of a store, in the database. */
async function followed(store: MemoryStore, { templates }: Registry): Promise<Followed> {
  await schema.empty();
  const content = { contentId: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(schema.database, 0, content, () => undefined);
  await writer.replace(
    store.read((view) => templates.flatMap((template) => view.all(template) as StoredContract[])),
    10,
  );
  const follower = followerOf(schema.database, { templates });
  await follower.refresh();
  return follower;
}

const texts = (warnings: readonly unknown[]) => warnings.map((one) => JSON.stringify(one)).toSorted();

test.each(Object.entries(defectsAt(NOW)))("a scan finds what it finds in memory: %s", async (_name, defect) => {
  const registry = utilityWith(parse(defect.contexts ?? "") ?? undefined);
  const store = await storeOf(defect.elements, registry);
  const follower = await followed(store, registry);
  const { found, offset } = await scanWarnings(follower, registry.checks ?? [], options());
  const inMemory = await scanWarnings(store, registry.checks ?? [], options());
  expect(texts(found.warnings())).toEqual(texts(inMemory.found.warnings()));
  expect(offset).toBe(10);
});
