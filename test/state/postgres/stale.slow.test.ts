/** A replica serves nothing stale where random scripts (replica.property.test.ts) do not come: late results and long gaps. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Change } from "../../../src/domain/contract.js";
import { NotReady, type View } from "../../../src/state/port.js";
import { Replica, type ReplicaOptions } from "../../../src/state/postgres/replica.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { apple, byLabel, fruit, fruits } from "../../fixtures/fruits.js";
import { PausableDatabase } from "../../fixtures/pausable-database.js";
import { clock, CONTENT, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

/** As in fetch.ts: a replica that is more updates behind drops its cache. */
const MAX_UPDATES_BEHIND = 2_000;

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

const begin = (): Promise<PostgresWriter> =>
  PostgresWriter.begin(schema.database, 0, { contentId: CONTENT, origin: "tests" }, () => undefined);

const find = (view: View, label: string) => view.byKey(apple, byLabel(label));

/** "offset; red apples; green apples; apple a". */
const describeView = (view: View): string =>
  [view.offset, find(view, "red"), find(view, "green"), [view.byId(apple, "a")].flatMap((one) => one ?? [])]
    .map((part) =>
      typeof part === "number"
        ? part
        : part.map(({ fields, synchronizerId }) => `${fields.name}@${synchronizerId ?? "nowhere"}`).join(" "),
    )
    .join("; ");

async function refreshed(database = schema.database, more: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const options = { templates: fruits, contentId: "tests", cacheBytes: 10_000_000, clock, ...more };
  const replica = new Replica(database, options);
  await replica.refresh();
  return replica;
}

/** A replica with describeView in its cache. */
async function warm(database = schema.database): Promise<Replica> {
  const replica = await refreshed(database);
  await replica.read(describeView);
  return replica;
}

function pausable(): PausableDatabase {
  const database = new PausableDatabase({ url: schema.url, maxConnections: 4 });
  onTestFinished(() => database.close());
  return database;
}

const assigned = (id: string, counter: number, labels = ["red"]): Change => ({
  active: fruit(id, { synchronizerId: `sync-${counter}`, reassignmentCounter: counter, labels }),
});

const setOffset = (offset: number) => schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);

/** Moves the store by updates that invalidate other lookups. */
async function moveOn(from: number, to: number): Promise<void> {
  await schema.sql(
    `INSERT INTO offledger.invalidations SELECT s.generation, n, ARRAY[gen_random_uuid()]
     FROM offledger.state s, generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );
  await setOffset(to);
}

describe("a late result", () => {
  // The replica has the invalidations of 200 updates.
  test.each([12, 300])("is of its own state, and is not cached if the store is at %d by then", async (last) => {
    const database = pausable();
    const replica = await refreshed(database);
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(replica.read((view) => [view.offset, find(view, "red")[0]?.synchronizerId]));
    await late.reached;
    await writer.apply([assigned("a", 1)], 11);
    for (let offset = 12; offset <= last; offset++) {
      await replica.refresh();
      await writer.apply([assigned("b", offset, ["green"])], offset);
    }
    await replica.refresh();
    late.resume();
    expect(await reading).toEqual([10, "sync-A"]);
    expect(await replica.read(describeView)).toBe(`${last}; a@sync-1; b@sync-${last}; a@sync-1`);
  });

  test("of an old snapshot does not replace a new one", async () => {
    const database = pausable();
    const replica = await refreshed(database);
    const late = database.pause("result", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => {
        find(view, "red");
        // Ends a run in which something is missing: what follows needs another query, which sees the new state.
        view.sums([]);
        return describeView(view);
      }),
    );
    await late.reached;
    await writer.replace([fruit("a", { name: "new" })], 10, 11);
    await replica.refresh();
    late.resume();
    expect(await reading).toBe("10; new@sync-A; ; new@sync-A");
    expect(await replica.read(describeView)).toBe("10; new@sync-A; ; new@sync-A");
  });

  test("does not change that contracts are stored under the keys of another module", async () => {
    const database = pausable();
    const replica = await warm(database);
    const late = database.pause("result", "fetch");
    const refreshing = replica.refresh();
    await late.reached;
    await writer.replace([{ ...fruit("x"), indexKeys: [byLabel("another key")] }], 20);
    // Any other query.
    await expect(Promise.resolve(replica.read((view) => find(view, "blue")))).rejects.toThrow(NotReady);
    late.resume();
    await refreshing;
    expect(replica.status.isOurs).toBe(false);
    expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
  });
});

test("a contract found twice in one read is the same object, even if the first was evicted", async () => {
  const database = pausable();
  await writer.apply([{ active: fruit("c", { labels: ["one", "two"] }) }], 11);
  const replica = await refreshed(database, { cacheBytes: 8_000 });
  // The first run fetches label "one". The second run waits for another fetch.
  const late = database.pause("result", "fetch");
  const reading = Promise.resolve(
    replica.read((view) => {
      const [one] = find(view, "one");
      view.sums([]);
      find(view, "nothing");
      view.sums([]);
      return [one, find(view, "two")[0]];
    }),
  );
  await late.reached;
  const later = database.pause("result", "fetch");
  late.resume();
  await later.reached;
  // Other reads evict that result, and cache the contract under label "two".
  for (const index of Array(20).keys()) await replica.read((view) => find(view, `none-${index}`));
  await replica.read((view) => find(view, "two"));
  later.resume();
  const [one, two] = await reading;
  expect(one?.contractId).toBe("c");
  expect(two).toBe(one);
});

describe("a replica that was disconnected", () => {
  test.each([
    ["keeps valid entries", MAX_UPDATES_BEHIND, true],
    ["drops its cache", MAX_UPDATES_BEHIND + 1, false],
  ])("%s after %d updates", async (_what, updates, keeps) => {
    const replica = await warm();
    const [green] = await replica.read((view) => find(view, "green"));
    await writer.apply([assigned("a", 1)], 11);
    await moveOn(12, 10 + updates);
    await replica.refresh();
    expect(await replica.read(describeView)).toBe(`${10 + updates}; a@sync-1; b@sync-A; a@sync-1`);
    const [same] = await replica.read((view) => find(view, "green"));
    expect(same === green).toBe(keeps);
  });

  test("for longer than the writer keeps invalidations drops its cache", async () => {
    const replica = await warm();
    await writer.apply([assigned("a", 1)], 11);
    await moveOn(12, 20_013);
    await writer.cleanUp();
    const [row] = await schema.sql<{ from: string; first: string; count: string }>(
      "SELECT s.invalidations_from AS from, min(c.ledger_offset) AS first, count(*) FROM offledger.state s, offledger.invalidations c GROUP BY 1",
    );
    expect(row).toEqual({ from: "13", first: "14", count: "20000" });
    await replica.refresh();
    expect(await replica.read(describeView)).toBe("20013; a@sync-1; b@sync-A; a@sync-1");
  });
});

describe.each(["refreshes", "reads"])("when a replica %s", (how) => {
  /** A query of either kind. */
  const query = async (replica: Replica): Promise<void> => {
    if (how === "refreshes") await replica.refresh();
    else expect(await replica.read((view) => find(view, "blue"))).toEqual([]);
  };

  test("a few invalidations that are gone are noticed", async () => {
    const replica = await warm();
    await writer.apply([assigned("a", 1)], 11);
    await writer.apply([], 12);
    await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset <= 11");
    await schema.sql("UPDATE offledger.state SET invalidations_from = 11");
    await query(replica);
    expect(await replica.read(describeView)).toBe("12; a@sync-1; b@sync-A; a@sync-1");
  });

  test("the state of a restored database is served", async () => {
    await writer.apply([assigned("a", 1)], 11);
    await writer.apply([assigned("a", 2), { archived: "b" }], 12);
    const replica = await warm();
    expect(await replica.read(describeView)).toBe("12; a@sync-2; ; a@sync-2");
    await setOffset(11);
    await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset > 11");
    await schema.sql("UPDATE offledger.contracts SET synchronizer_id = 'sync-1', reassignment_counter = 1");
    await query(replica);
    expect(await replica.read(describeView)).toBe("11; a@sync-1; ; a@sync-1");
  });
});

test("a database without a snapshot makes the replica not ready", async () => {
  const replica = await warm();
  await schema.empty();
  await replica.refresh();
  expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
});
