/** A scan of a store reads what requests read, and leaves their caches as they are. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Template } from "../../src/domain/template.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { NotReady, type StoreReader, type StoreScan, type StoreWriter } from "../../src/store/port.js";
import { MAX_SCANNED_IDS, Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
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

async function onDatabase(): Promise<Scanned & { readonly reader: Replica }> {
  await schema.empty();
  const { database } = schema;
  const writer = await PostgresWriter.begin(database, 0, { contentId: "tests", origin: "tests" }, () => undefined);
  const reader = new Replica(database, { templates: fruits, contentId: "tests", cacheBytes: 10_000_000, clock });
  return { writer, reader, refresh: () => reader.refresh() };
}

async function inMemory(): Promise<Scanned> {
  const store = new MemoryStore();
  return { writer: store, reader: store, refresh: async () => {} };
}

const idsOf = async (scan: StoreScan, template: Template): Promise<string[]> => {
  const { ids, isComplete } = await scan.ids(template);
  expect(isComplete).toBe(true);
  return [...ids].toSorted((a, b) => a.localeCompare(b));
};

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", onDatabase],
])("%s", (_name, make) => {
  test("lists the ids of a template", async () => {
    const { writer, reader, refresh } = await make();
    await writer.replace([fruit("a"), fruit("b"), fruit("c", { template: pear })], 1);
    await refresh();
    expect(await idsOf(reader.openScan(), apple)).toEqual(["a", "b"]);
    expect(await idsOf(reader.openScan(), pear)).toEqual(["c"]);
  });

  test("moves on with the store", async () => {
    const { writer, reader, refresh } = await make();
    await writer.replace([fruit("a"), fruit("b")], 1);
    await refresh();
    const scan = reader.openScan();
    expect(await idsOf(scan, apple)).toEqual(["a", "b"]);
    const labels = () => scan.read((view) => view.byKey(apple, byLabel("red")).map(({ contractId }) => contractId));
    expect(await labels()).toEqual(["a", "b"]);
    await writer.apply([{ archived: "a" }, { active: fruit("c") }], 2);
    expect(await scan.read((view) => view.byId(apple, "a"))).toBeUndefined();
    expect(await labels()).toEqual(["b", "c"]);
    expect(await scan.read((view) => view.offset)).toBe(2);
    expect(await idsOf(scan, apple)).toEqual(["b", "c"]);
  });

  test("fails before there is a state", async () => {
    const { reader } = await make();
    const scan = reader.openScan();
    await expect((async () => scan.read((view) => view.byId(apple, "a")))()).rejects.toThrow(NotReady);
  });
});

test("in memory, a scan reads the same objects as a request", async () => {
  const { writer, reader } = await inMemory();
  await writer.replace([fruit("a", { labels: [] })], 1);
  const requested = await reader.read((view) => view.byId(apple, "a"));
  expect(await reader.openScan().read((view) => view.byId(apple, "a"))).toBe(requested);
});

const some = (count: number) => Array.from({ length: count }, (_, index) => fruit(`a${index}`, { labels: [] }));

describe("on a database", () => {
  test("a scan neither fills nor empties the cache of requests", async () => {
    const { writer, reader } = await onDatabase();
    await writer.replace(
      Array.from({ length: 300 }, (_, index) => fruit(`a${index}`, { labels: [String(index % 3)] })),
      1,
    );
    await reader.refresh();
    const queries = vi.spyOn(schema.database, "query");
    const readBy = async (label: string): Promise<number> => {
      const before = queries.mock.calls.length;
      expect(await reader.read((view) => view.byKey(apple, byLabel(label)).length)).toBe(100);
      return queries.mock.calls.length - before;
    };
    expect(await readBy("0")).toBe(1);
    expect(await readBy("0")).toBe(0);
    const scan = reader.openScan();
    const { ids } = await scan.ids(apple);
    const found = await scan.read((view) => ids.map((id) => view.byId(apple, id)?.contractId));
    expect(found).toEqual(ids);
    await scan.read((view) => view.byKey(apple, byLabel("1")));
    expect(await readBy("0")).toBe(0);
    expect(await readBy("1")).toBe(1);
    queries.mockRestore();
  });

  test("a scan has what it read before in a cache of its own", async () => {
    const { writer, reader } = await onDatabase();
    await writer.replace([fruit("a")], 1);
    await reader.refresh();
    const scan = reader.openScan();
    const queries = vi.spyOn(schema.database, "query");
    for (let times = 0; times < 5; times++) await scan.read((view) => view.byKey(apple, byLabel("red")));
    expect(queries.mock.calls).toHaveLength(1);
    queries.mockRestore();
  });

  test("lists a bounded number of ids", async () => {
    const { writer, reader } = await onDatabase();
    expect(MAX_SCANNED_IDS).toBe(10_000);
    await writer.replace(some(10_000), 1);
    expect(await reader.openScan().ids(apple)).toMatchObject({ isComplete: true, ids: { length: 10_000 } });
    await writer.replace(some(10_001), 2);
    expect(await reader.openScan().ids(apple)).toMatchObject({ isComplete: false, ids: { length: 10_000 } });
  });

  test("a lookup of a request finds at most 10,000 contracts, and is then not kept", async () => {
    const { writer, reader } = await onDatabase();
    await writer.replace(some(10_000), 1);
    await reader.refresh();
    expect(await reader.read((view) => view.all(apple).length)).toBe(10_000);
    await writer.apply([{ active: fruit("one more") }], 2);
    await reader.refresh();
    for (let times = 0; times < 2; times++) {
      const reading = Promise.resolve(reader.read((view) => view.all(apple).length));
      await expect(reading).rejects.toMatchObject({ exceeded: { limit: "contracts", maximum: 10_000 } });
    }
    expect(await reader.openScan().read((view) => view.all(apple).length)).toBe(10_001);
  });

  test("a store of another configuration is not read", async () => {
    const { writer } = await onDatabase();
    await writer.replace([fruit("a")], 1);
    const other = new Replica(schema.database, { templates: fruits, contentId: "other", cacheBytes: 0, clock });
    await expect(other.openScan().read((view) => view.byId(apple, "a"))).rejects.toThrow(NotReady);
  });
});
