/** Nothing stays in the memory of a replica that the database does not say any more, however it learns of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Replica, type ReplicaOptions } from "../../../src/store/postgres/read/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/write/postgres-writer.js";
import type { Change } from "../../../src/domain/change.js";
import type { Contract } from "../../../src/domain/contract.js";
import { NotReady, type StoreReader, type View } from "../../../src/store/port.js";
import { apple, byLabel, fruit, type FruitOptions, fruits, type Fruit } from "../../fixtures/fruits.js";
import { HeldDatabase } from "../../fixtures/held-database.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-store.js";

/** Behind by more updates than this, a replica begins anew. */
const MOST_BEHIND = 2_000;
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

/** A replica with everything in its memory. */
async function informed(database = schema.database, more: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const replica = replicaOn(database, more);
  await replica.refresh();
  await look(replica);
  return replica;
}

function held(): HeldDatabase {
  const database = new HeldDatabase(schema.url, 4);
  onTestFinished(() => database.close());
  return database;
}

const byKey = (view: View, label: string): readonly Contract<Fruit>[] => view.byKey(apple, byLabel(label));
const told = (contracts: readonly Contract<Fruit>[]): string =>
  contracts.map(({ fields, synchronizerId }) => `${fields.name}@${synchronizerId ?? "nowhere"}`).join(" ");

/** All that the cases are about: "offset; red ones; green ones; by id". */
const everything = (view: View): string =>
  [view.offset, told(byKey(view, "red")), told(byKey(view, "green")), told(idOf(view, "a"))].join("; ");
const idOf = (view: View, id: string): readonly Contract<Fruit>[] => [view.byId(apple, id)].flatMap((one) => one ?? []);
const look = async (reader: StoreReader): Promise<string> => reader.read(everything);

const moved = (id: string, counter: number, options: FruitOptions = {}): Change => ({
  active: fruit(id, { synchronizerId: `sync-${counter}`, reassignmentCounter: counter, ...options }),
});

/** Notes updates that have touched something else, as many as there are offsets. */
const busy = (from: number, to: number) =>
  schema.sql(
    `INSERT INTO offledger.invalidations SELECT s.generation, n, ARRAY[gen_random_uuid()]
     FROM offledger.state s, generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );

const moveTo = (offset: number) => schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);

describe("a replica that is never told anything", () => {
  test("stays at one state in all that it says, and goes on with whatever it fetches", async () => {
    const replica = await informed();
    await writer.apply([moved("a", 1), { active: fruit("c", { labels: ["blue"] }) }], 11);
    const before = "10; a@sync-A; b@sync-A; a@sync-A";
    expect(await look(replica)).toBe(before);
    expect(await replica.read((view) => [view.offset, told(byKey(view, "blue"))])).toEqual([11, "c@sync-A"]);
    expect(await look(replica)).toBe("11; a@sync-1; b@sync-A; a@sync-1");
  });

  test("mixes nothing within a reading that begins with what it knows", async () => {
    const replica = await informed();
    await writer.apply([moved("a", 1), { active: fruit("c", { labels: ["blue"] }) }], 11);
    const seen = await replica.read((view) => [everything(view), told(byKey(view, "blue"))]);
    expect(seen).toEqual(["11; a@sync-1; b@sync-A; a@sync-1", "c@sync-A"]);
  });

  test("has what has left its synchronizer as it is now when it looks", async () => {
    const replica = await informed();
    await writer.apply([{ unassigned: "a", reassignmentCounter: 1 }], 11);
    await replica.refresh();
    expect(await look(replica)).toBe("11; a@nowhere; b@sync-A; a@nowhere");
  });

  test("has what was archived no more when it looks", async () => {
    const replica = await informed();
    await writer.apply([{ archived: "a" }], 11);
    await replica.refresh();
    expect(await look(replica)).toBe("11; ; b@sync-A; ");
    expect(await replica.read((view) => view.wasArchived("a"))).toBe(true);
  });
});

describe("an answer that comes late", () => {
  test("is of its own state, and is not kept where an update has touched it", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.hold("answer", "fetch");
    const reading = Promise.resolve(replica.read((view) => [view.offset, told(byKey(view, "red"))]));
    await late.there;
    await writer.apply([moved("a", 1)], 11);
    await writer.apply([], 12);
    await replica.refresh();
    late.letThrough();
    expect(await reading).toEqual([10, "a@sync-A"]);
    expect(await look(replica)).toBe("12; a@sync-1; b@sync-A; a@sync-1");
  });

  test("is not kept where the replica has been to more states than it remembers", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.hold("answer", "fetch");
    const reading = Promise.resolve(replica.read((view) => told(byKey(view, "red"))));
    await late.there;
    await writer.apply([moved("a", 1)], 11);
    for (let offset = 12; offset <= 300; offset++) {
      await replica.refresh();
      await writer.apply([moved("b", offset, { labels: ["green"] })], offset);
    }
    await replica.refresh();
    late.letThrough();
    expect(await reading).toBe("a@sync-A");
    expect(await look(replica)).toBe("300; a@sync-1; b@sync-300; a@sync-1");
  });

  test("of the state before does not take the place of a new one", async () => {
    const database = held();
    const replica = replicaOn(database);
    await replica.refresh();
    const late = database.hold("answer", "fetch");
    const reading = Promise.resolve(replica.read(everything));
    await late.there;
    await writer.replace([fruit("a", { name: "new" })], 10, 11);
    await replica.refresh();
    late.letThrough();
    // What it has not asked for yet it learns by a second question, of the new state.
    expect(await reading).toBe("10; new@sync-A; ; new@sync-A");
    expect(await look(replica)).toBe("10; new@sync-A; ; new@sync-A");
  });

  test("does not say whose the new state is", async () => {
    const database = held();
    const replica = await informed(database);
    const late = database.hold("answer", "fetch");
    const refreshed = replica.refresh();
    await late.there;
    await (await begin("other content")).replace([fruit("x")], 20);
    // Any other question.
    const other = Promise.resolve(replica.read((view) => byKey(view, "blue")));
    await expect(other).rejects.toThrow(NotReady);
    late.letThrough();
    await refreshed;
    expect(replica.status.isOurs).toBe(false);
    expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
  });
});

describe("a reading that a new state overtakes", () => {
  test("has nothing of the state before", async () => {
    const database = held();
    const replica = replicaOn(database, { cacheBytes: 0 });
    await replica.refresh();
    const late = database.hold("answer", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => `${view.asOf}: ${told(byKey(view, "red"))}, ${told(idOf(view, "a"))}`),
    );
    await late.there;
    // It says other things of the same contract.
    await writer.replace([fruit("a", { name: "new" })], 20, 20);
    late.letThrough();
    expect(await reading).toBe("20: new@sync-A, new@sync-A");
  });
});

describe("a contract that is found in two ways within one reading is the same object", () => {
  test("also where the one came from the database, was let go, and the other was kept", async () => {
    const database = held();
    const replica = replicaOn(database, { cacheBytes: 8_000 });
    await writer.apply([{ active: fruit("c", { labels: ["one", "two"] }) }], 11);
    await replica.refresh();
    // Fetched by the one label, and the run after it is held up by something else that has to be fetched.
    const late = database.hold("answer", "fetch");
    const reading = Promise.resolve(
      replica.read((view) => {
        const [one] = byKey(view, "one");
        const nothing = byKey(view, "nothing");
        const [two] = byKey(view, "two");
        return { one, two, nothing };
      }),
    );
    await late.there;
    const later = database.hold("answer", "fetch");
    late.letThrough();
    await later.there;
    // Others push out what was found by it, and have the same contract by the other label.
    for (const index of Array(20).keys()) await replica.read((view) => byKey(view, `none-${index}`));
    await replica.read((view) => byKey(view, "two"));
    later.letThrough();
    const { one, two } = await reading;
    expect(one?.contractId).toBe("c");
    expect(two).toBe(one);
  });
});

describe("a replica that was away", () => {
  test.each([
    ["keeps what was not touched", MOST_BEHIND, true],
    ["begins anew", MOST_BEHIND + 1, false],
  ])("%s behind %d updates, and has nothing stale", async (_what, updates, keeps) => {
    const replica = await informed();
    const green = await replica.read((view) => byKey(view, "green"));
    await writer.apply([moved("a", 1)], 11);
    await busy(12, 10 + updates);
    await moveTo(10 + updates);
    await replica.refresh();
    expect(await look(replica)).toBe(`${10 + updates}; a@sync-1; b@sync-A; a@sync-1`);
    const [same] = await replica.read((view) => byKey(view, "green"));
    expect(same === green[0]).toBe(keeps);
  });

  test.each(["refreshes", "reads"])("for longer than the log goes back has nothing stale when it %s", async (how) => {
    const replica = await informed();
    await writer.apply([moved("a", 1)], 11);
    await writer.apply([], 12);
    await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset <= 11");
    await schema.sql("UPDATE offledger.state SET invalidations_from = 11");
    if (how === "refreshes") await replica.refresh();
    else await replica.read((view) => byKey(view, "blue"));
    expect(await look(replica)).toBe("12; a@sync-1; b@sync-A; a@sync-1");
  });

  test("for longer than the writer keeps the log has nothing stale", async () => {
    const replica = await informed();
    await writer.apply([moved("a", 1)], 11);
    await busy(12, 20_013);
    await moveTo(20_013);
    await writer.cleanUp();
    const [log] = await schema.sql<{ from: string; least: string; count: string }>(
      "SELECT s.invalidations_from AS from, min(c.ledger_offset) AS least, count(*) FROM offledger.state s, offledger.invalidations c GROUP BY 1",
    );
    expect(log).toEqual({ from: "13", least: "14", count: "20000" });
    await replica.refresh();
    expect(await look(replica)).toBe("20013; a@sync-1; b@sync-A; a@sync-1");
  });
});

describe("a state that is not behind the one before", () => {
  test.each(["refreshes", "reads"])(
    "of a database that was set back is what the replica says when it %s",
    async (how) => {
      await writer.apply([moved("a", 1)], 11);
      await writer.apply([moved("a", 2), { archived: "b" }], 12);
      const replica = await informed();
      expect(await look(replica)).toBe("12; a@sync-2; ; a@sync-2");
      await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
      await schema.sql("DELETE FROM offledger.invalidations WHERE ledger_offset > 11");
      await schema.sql("UPDATE offledger.contracts SET synchronizer_id = 'sync-1', reassignment_counter = 1");
      const before = "11; a@sync-1; ; a@sync-1";
      if (how === "refreshes") await replica.refresh();
      const seen = await replica.read((view) => [
        everything(view),
        told(byKey(view, how === "reads" ? "blue" : "red")),
      ]);
      expect(seen).toEqual([before, how === "reads" ? "" : "a@sync-1"]);
      expect(await look(replica)).toBe(before);
    },
  );

  test.each([5, 10, 20])("that was put in its place, at offset %d, is what the replica says", async (offset) => {
    const replica = await informed();
    await writer.replace([fruit("a", { name: "new", labels: ["green"] })], offset);
    await replica.refresh();
    expect(await look(replica)).toBe(`${offset}; ; new@sync-A; new@sync-A`);
  });

  test.each([5, 10, 20])("at offset %d, is what a reading says that did not know of it", async (offset) => {
    const replica = await informed();
    await writer.replace([fruit("a", { name: "new", labels: ["green"] })], offset);
    const seen = await replica.read((view) => [everything(view), told(byKey(view, "blue"))]);
    expect(seen).toEqual([`${offset}; ; new@sync-A; new@sync-A`, ""]);
    expect(await look(replica)).toBe(`${offset}; ; new@sync-A; new@sync-A`);
  });

  test("of no snapshot at all is none", async () => {
    const replica = await informed();
    await schema.empty();
    await replica.refresh();
    expect(() => replica.read((view) => view.offset)).toThrow(NotReady);
  });
});
