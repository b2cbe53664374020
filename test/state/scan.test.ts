/** A scan of a store reads what requests read, and leaves their caches as they are. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Template } from "../../src/domain/template.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { NotReady, type StoreReader, type StoreScan, type StoreWriter } from "../../src/state/port.js";
import { Replica } from "../../src/state/postgres/replica.js";
import { PostgresWriter } from "../../src/state/postgres/writer.js";
import { clock, freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { apple, byLabel, fruit, fruits, pear } from "../fixtures/fruits.js";

interface Scanned {
  readonly writer: StoreWriter;
  readonly reader: StoreReader & { openScan(): StoreScan };
  /** Makes the reader see what was written. */
  readonly refresh: () => Promise<void>;
}

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

async function onDatabase(contentId = "tests"): Promise<Scanned> {
  await schema.empty();
  const { database } = schema;
  const writer = await PostgresWriter.begin(database, 0, { contentId: "tests", origin: "tests" }, () => undefined);
  const reader = new Replica(database, { templates: fruits, contentId, cacheBytes: 10_000_000, clock });
  return { writer, reader, refresh: () => reader.refresh() };
}

async function inMemory(): Promise<Scanned> {
  const store = new MemoryStore();
  return { writer: store, reader: store, refresh: async () => {} };
}

async function idsOf(scan: StoreScan, template: Template): Promise<string[]> {
  const { ids, isComplete } = await scan.ids(template);
  expect(isComplete).toBe(true);
  return ids.toSorted();
}

const readApple = async (scan: StoreScan) => scan.read((view) => view.byId(apple, "a"));

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", onDatabase],
])("%s", (_name, make) => {
  test("lists the ids of a template, and moves on with the store", async () => {
    const { writer, reader, refresh } = await make();
    const scan = reader.openScan();
    await expect(readApple(scan)).rejects.toThrow(NotReady);
    await writer.replace([fruit("a"), fruit("b"), fruit("c", { template: pear })], 1);
    await refresh();
    const labels = () => scan.read((view) => view.byKey(apple, byLabel("red")).map(({ contractId }) => contractId));
    expect([await idsOf(scan, apple), await idsOf(scan, pear), await labels()]).toEqual([
      ["a", "b"],
      ["c"],
      ["a", "b"],
    ]);
    await writer.apply([{ archived: "a" }, { active: fruit("d") }], 2);
    expect(await scan.read((view) => view.byId(apple, "a"))).toBeUndefined();
    expect(await scan.read((view) => view.offset)).toBe(2);
    expect([await idsOf(scan, apple), await labels()]).toEqual([
      ["b", "d"],
      ["b", "d"],
    ]);
  });
});

test("in memory, a scan reads the same objects as a request", async () => {
  const { writer, reader } = await inMemory();
  await writer.replace([fruit("a")], 1);
  const requested = await reader.read((view) => view.byId(apple, "a"));
  expect(await reader.openScan().read((view) => view.byId(apple, "a"))).toBe(requested);
});

describe("on a database", () => {
  test("a scan neither fills nor empties the cache of requests", async () => {
    const { writer, reader, refresh } = await onDatabase();
    await writer.replace(
      Array.from({ length: 300 }, (_, index) => fruit(`a${index}`, { labels: [String(index % 3)] })),
      1,
    );
    await refresh();
    /** Whether the answer is there at once. */
    const isCached = async (label: string): Promise<boolean> => {
      const found = reader.read((view) => view.byKey(apple, byLabel(label)).length);
      expect(await found).toBe(100);
      return !(found instanceof Promise);
    };
    expect([await isCached("0"), await isCached("0")]).toEqual([false, true]);
    const scan = reader.openScan();
    const { ids } = await scan.ids(apple);
    expect(await scan.read((view) => ids.map((id) => view.byId(apple, id)?.contractId))).toEqual(ids);
    await scan.read((view) => view.byKey(apple, byLabel("1")));
    expect([await isCached("0"), await isCached("1")]).toEqual([true, false]);
  });

  test("a list of ids, and a lookup of a request, have at most 10,000 contracts", async () => {
    const { writer, reader, refresh } = await onDatabase();
    await writer.replace(
      Array.from({ length: 10_000 }, (_, index) => fruit(`a${index}`, { labels: [] })),
      1,
    );
    await refresh();
    const scan = reader.openScan();
    expect(await scan.ids(apple)).toMatchObject({ isComplete: true, ids: { length: 10_000 } });
    expect(await reader.read((view) => view.all(apple).length)).toBe(10_000);
    await writer.apply([{ active: fruit("one more") }], 2);
    await refresh();
    expect(await scan.ids(apple)).toMatchObject({ isComplete: false, ids: { length: 10_000 } });
    expect(await scan.read((view) => view.all(apple).length)).toBe(10_001);
    for (let times = 0; times < 2; times++) {
      const reading = Promise.resolve(reader.read((view) => view.all(apple).length));
      await expect(reading).rejects.toMatchObject({ exceeded: { limit: "contracts", maximum: 10_000 } });
    }
  });

  test("a store of another configuration is not read", async () => {
    const { writer, reader } = await onDatabase("other");
    await writer.replace([fruit("a")], 1);
    await expect(readApple(reader.openScan())).rejects.toThrow(NotReady);
  });
});
