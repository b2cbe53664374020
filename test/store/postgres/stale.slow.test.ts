/** A replica never serves stale or mixed data, however it learns of a change. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Replica, type ReplicaOptions } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import type { Change, Contract } from "../../../src/domain/contract.js";
import { NotReady, type StoreReader, type View } from "../../../src/store/port.js";
import { apple, byLabel, fruit, type FruitOptions, fruits, type Fruit } from "../../fixtures/fruits.js";
import { PausableDatabase } from "../../fixtures/pausable-database.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

/** As in fetch.ts: a replica that is more updates behind drops its cache. */
const MAX_UPDATES_BEHIND = 2_000;
const LARGE = 10_000_000;

let schema: Schema;
let writer: PostgresWriter;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(async () => {
  writer = await begin();
  await writer.replace([fruit("a"), fruit("b", { labels: ["green"] })], 10, 10);
  return () => schema.empty();
});

const begin = (contentId = "tests"): Promise<PostgresWriter> =>
  PostgresWriter.begin(schema.database, 0, { contentId, origin: "tests" }, () => undefined);

function replicaOn(database = schema.database, more: Partial<ReplicaOptions> = {}): Replica {
  return new Replica(database, { templates: fruits, contentId: "tests", cacheBytes: LARGE, clock, ...more });
}

/** A replica with describeView in its cache. */
async function warmReplica(database = schema.database, more: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const replica = replicaOn(database, more);
  await replica.refresh();
  await readView(replica);
  return replica;
}

function held(): PausableDatabase {
  const database = new PausableDatabase(schema.url, 4);
  onTestFinished(() => database.close());
  return database;
}

const byKey = (view: View, label: string): readonly Contract<Fruit>[] => view.byKey(apple, byLabel(label));
const describeContracts = (contracts: readonly Contract<Fruit>[]): string =>
  contracts.map(({ fields, synchronizerId }) => `${fields.name}@${synchronizerId ?? "nowhere"}`).join(" ");

/** "offset; red apples; green apples; apple a". */
const describeView = (view: View): string =>
  [
    view.offset,
    describeContracts(byKey(view, "red")),
    describeContracts(byKey(view, "green")),
    describeContracts(byIdList(view, "a")),
  ].join("; ");
const byIdList = (view: View, id: string): readonly Contract<Fruit>[] =>
  [view.byId(apple, id)].flatMap((one) => one ?? []);
/** Ends a run in which something is missing: what follows needs another query. */
const fetched = (view: View): void => void view.sums([]);
const readView = async (reader: StoreReader): Promise<string> => reader.read(describeView);

const assigned = (id: string, counter: number, options: FruitOptions = {}): Change => ({
  active: fruit(id, { synchronizerId: `sync-${counter}`, reassignmentCounter: counter, ...options }),
});

/** Inserts invalidations of other lookups for a range of offsets. */
const insertInvalidations = (from: number, to: number) =>
  schema.sql(
    `INSERT INTO offledger.invalidations SELECT s.generation, n, ARRAY[gen_random_uuid()]
     FROM offledger.state s, generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );

const setOffset = (offset: number) => schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);

describe("a replica without notifications", () => {
  test("stays at one state until it fetches something", async () => {
    const replica = await warmReplica();
    await writer.apply([assigned("a", 1), { active: fruit("c", { labels: ["blue"] }) }], 11);
    const before = "10; a@sync-A; b@sync-A; a@sync-A";
    expect(await readView(replica)).toBe(before);
    expect(await replica.read((view) => [view.offset, describeContracts(byKey(view, "blue"))])).toEqual([
      11,
      "c@sync-A",
    ]);
    expect(await readView(replica)).toBe("11; a@sync-1; b@sync-A; a@sync-1");
  });

  test("does not mix states in a read that starts from the cache", async () => {
    const replica = await warmReplica();
    await writer.apply([assigned("a", 1), { active: fruit("c", { labels: ["blue"] }) }], 11);
    const seen = await replica.read((view) => [describeView(view), describeContracts(byKey(view, "blue"))]);
    expect(seen).toEqual(["11; a@sync-1; b@sync-A; a@sync-1", "c@sync-A"]);
  });

  test("sees an unassignment after a refresh", async () => {
    const replica = await warmReplica();
    await writer.apply([{ unassigned: "a", reassignmentCounter: 1 }], 11);
    await replica.refresh();
    expect(await readView(replica)).toBe("11; a@nowhere; b@sync-A; a@nowhere");
  });

  test("does not find an archived contract after a refresh", async () => {
    const replica = await warmReplica();
    await writer.apply([{ archived: "a" }], 11);
    await replica.refresh();
    expect(await readView(replica)).toBe("11; ; b@sync-A; ");
    expect(await replica.read((view) => view.wasArchived("a"))).toBe(true);
  });
});

describe("a late result", () => {
  test("belongs to its own state, and is not cached if an update has invalidated it", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(replica.read((view) => [view.offset, describeContracts(byKey(view, "red"))]));
    await late.reached;
    await writer.apply([assigned("a", 1)], 11);
    await writer.apply([], 12);
    await replica.refresh();
    late.resume();
    expect(await reading).toEqual([10, "a@sync-A"]);
    expect(await readView(replica)).toBe("12; a@sync-1; b@sync-A; a@sync-1");
  });

  test("is not cached if the replica no longer has the invalidations since", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(replica.read((view) => describeContracts(byKey(view, "red"))));
    await late.reached;
    await writer.apply([assigned("a", 1)], 11);
    for (let offset = 12; offset <= 300; offset++) {
      await replica.refresh();
      await writer.apply([assigned("b", offset, { labels: ["green"] })], offset);
    }
    await replica.refresh();
    late.resume();
    expect(await reading).toBe("a@sync-A");
    expect(await readView(replica)).toBe("300; a@sync-1; b@sync-300; a@sync-1");
  });

  test("of an old snapshot does not replace a new one", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => {
        byKey(view, "red");
        fetched(view);
        return describeView(view);
      }),
    );
    await late.reached;
    await writer.replace([fruit("a", { name: "new" })], 10, 11);
    await replica.refresh();
    late.resume();
    // The remaining lookups need a second query, which sees the new state.
    expect(await reading).toBe("10; new@sync-A; ; new@sync-A");
    expect(await readView(replica)).toBe("10; new@sync-A; ; new@sync-A");
  });

  test("does not change which content is served", async () => {
    const database = held();
    const replica = await warmReplica(database);
    const late = database.pause("result", "fetch");
    const refreshed = replica.refresh();
    await late.reached;
    await (await begin("other content")).replace([fruit("x")], 20);
    // Any other query.
    const other = Promise.resolve(replica.read((view) => byKey(view, "blue")));
    await expect(other).rejects.toThrow(NotReady);
    late.resume();
    await refreshed;
    expect(replica.status.isOurs).toBe(false);
    expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
  });
});

describe("a read during a replacement", () => {
  test("has no data of the old state", async () => {
    const database = held();
    const replica = replicaOn(database, { cacheBytes: 0 });
    await replica.refresh();
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => {
        const red = describeContracts(byKey(view, "red"));
        fetched(view);
        return `${view.asOf}: ${red}, ${describeContracts(byIdList(view, "a"))}`;
      }),
    );
    await late.reached;
    // The same contract id with other fields.
    await writer.replace([fruit("a", { name: "new" })], 20, 20);
    late.resume();
    expect(await reading).toBe("20: new@sync-A, new@sync-A");
  });
});

describe("a contract found twice in one read is the same object", () => {
  test("even if the first was evicted and the second came from the cache", async () => {
    const database = held();
    const replica = replicaOn(database, { cacheBytes: 8_000 });
    await writer.apply([{ active: fruit("c", { labels: ["one", "two"] }) }], 11);
    await replica.refresh();
    // The first run fetches label "one". The second run waits for another fetch.
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => {
        const [one] = byKey(view, "one");
        fetched(view);
        const nothing = byKey(view, "nothing");
        fetched(view);
        const [two] = byKey(view, "two");
        return { one, two, nothing };
      }),
    );
    await late.reached;
    const later = database.pause("result", "fetch");
    late.resume();
    await later.reached;
    // Other reads evict that result, and cache the contract under label "two".
    for (const index of Array(20).keys()) await replica.read((view) => byKey(view, `none-${index}`));
    await replica.read((view) => byKey(view, "two"));
    later.resume();
    const { one, two } = await reading;
    expect(one?.contractId).toBe("c");
    expect(two).toBe(one);
  });
});

describe("a replica that was disconnected", () => {
  test.each([
    ["keeps valid entries", MAX_UPDATES_BEHIND, true],
    ["drops its cache", MAX_UPDATES_BEHIND + 1, false],
  ])("%s after %d updates, and serves nothing stale", async (_what, updates, keeps) => {
    const replica = await warmReplica();
    const green = await replica.read((view) => byKey(view, "green"));
    await writer.apply([assigned("a", 1)], 11);
    await insertInvalidations(12, 10 + updates);
    await setOffset(10 + updates);
    await replica.refresh();
    expect(await readView(replica)).toBe(`${10 + updates}; a@sync-1; b@sync-A; a@sync-1`);
    const [same] = await replica.read((view) => byKey(view, "green"));
    expect(same === green[0]).toBe(keeps);
  });

  test.each(["refreshes", "reads"])(
    "for longer than invalidations are kept serves nothing stale when it %s",
    async (how) => {
      const replica = await warmReplica();
      await writer.apply([assigned("a", 1)], 11);
      await writer.apply([], 12);
      await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset <= 11");
      await schema.sql("UPDATE offledger.state SET invalidations_from = 11");
      if (how === "refreshes") await replica.refresh();
      else await replica.read((view) => byKey(view, "blue"));
      expect(await readView(replica)).toBe("12; a@sync-1; b@sync-A; a@sync-1");
    },
  );

  test("for longer than the writer keeps invalidations serves nothing stale", async () => {
    const replica = await warmReplica();
    await writer.apply([assigned("a", 1)], 11);
    await insertInvalidations(12, 20_013);
    await setOffset(20_013);
    await writer.cleanUp();
    const [row] = await schema.sql<{ from: string; first: string; count: string }>(
      "SELECT s.invalidations_from AS from, min(c.ledger_offset) AS first, count(*) FROM offledger.state s, offledger.invalidations c GROUP BY 1",
    );
    expect(row).toEqual({ from: "13", first: "14", count: "20000" });
    await replica.refresh();
    expect(await readView(replica)).toBe("20013; a@sync-1; b@sync-A; a@sync-1");
  });
});

describe("a state that does not follow the previous one", () => {
  test.each(["refreshes", "reads"])("of a restored database is served when the replica %s", async (how) => {
    await writer.apply([assigned("a", 1)], 11);
    await writer.apply([assigned("a", 2), { archived: "b" }], 12);
    const replica = await warmReplica();
    expect(await readView(replica)).toBe("12; a@sync-2; ; a@sync-2");
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset > 11");
    await schema.sql("UPDATE offledger.contracts SET synchronizer_id = 'sync-1', reassignment_counter = 1");
    const before = "11; a@sync-1; ; a@sync-1";
    if (how === "refreshes") await replica.refresh();
    const seen = await replica.read((view) => [
      describeView(view),
      describeContracts(byKey(view, how === "reads" ? "blue" : "red")),
    ]);
    expect(seen).toEqual([before, how === "reads" ? "" : "a@sync-1"]);
    expect(await readView(replica)).toBe(before);
  });

  test.each([5, 10, 20])("that replaces it at offset %d is served after a refresh", async (offset) => {
    const replica = await warmReplica();
    await writer.replace([fruit("a", { name: "new", labels: ["green"] })], offset);
    await replica.refresh();
    expect(await readView(replica)).toBe(`${offset}; ; new@sync-A; new@sync-A`);
  });

  test.each([5, 10, 20])("that replaces it at offset %d is seen by a read without a refresh", async (offset) => {
    const replica = await warmReplica();
    await writer.replace([fruit("a", { name: "new", labels: ["green"] })], offset);
    const seen = await replica.read((view) => [describeView(view), describeContracts(byKey(view, "blue"))]);
    expect(seen).toEqual([`${offset}; ; new@sync-A; new@sync-A`, ""]);
    expect(await readView(replica)).toBe(`${offset}; ; new@sync-A; new@sync-A`);
  });

  test("without a snapshot makes the replica not ready", async () => {
    const replica = await warmReplica();
    await schema.empty();
    await replica.refresh();
    expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
  });
});
