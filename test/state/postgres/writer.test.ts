/** Fencing, cleanup, and where a writer resumes; src/state/postgres/writer.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Change, StoredContract } from "../../../src/domain/contract.js";
import { parseRegistryFile } from "../../../src/registry/engine/file.js";
import { tableRegistry } from "../../../src/registry/engine/table-registry.js";
import { contentId } from "../../../src/state/postgres/content-id.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import type { PostgresWriter, WriterOptions } from "../../../src/state/postgres/writer.js";
import { apple, counted, fruit, fruits } from "../../fixtures/fruits.js";
import { followerOf } from "../../fixtures/follower.js";
import { PausableDatabase } from "../../fixtures/pausable-database.js";
import { beginWriter, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";
import { until, within } from "../../fixtures/wait.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(() => () => schema.empty());

interface Writer {
  readonly writer: PostgresWriter;
  /** What it has reported. */
  readonly lost: DatabaseError[];
}

/** A writer in a new epoch. */
async function nextWriter(options: Partial<WriterOptions> = {}, database = schema.database): Promise<Writer> {
  const lost: DatabaseError[] = [];
  const onLost = (error: DatabaseError) => void lost.push(error);
  return { writer: await beginWriter(database, { epoch: await schema.nextEpoch(), onLost, ...options }), lost };
}

/** Offset, ids of apples and the sum "USD", for a new reader. */
async function stored(): Promise<unknown> {
  const follower = followerOf(schema.database, { templates: fruits });
  await follower.refresh();
  return follower.read((view) => [
    view.offset,
    view.all(apple).map(({ contractId }) => contractId),
    ...view.sums(["USD"]),
  ]);
}

/** Every row of every table, as text. */
async function allRows(): Promise<unknown[]> {
  const rows = await Promise.all(
    [...tables, "state"].map((table) => schema.sql(`SELECT t::text FROM offledger.${table} t ORDER BY 1`)),
  );
  return rows.flat();
}

const active = (id: string): Change => ({ active: fruit(id) });
/** Every type of change, in two batches because contract "c" has two changes. */
const everyType: Change[] = [active("c"), { archived: "a" }, { unassigned: "c", reassignmentCounter: 1 }];
const snapshot = [fruit("x"), fruit("y"), counted("z", 7n)];

const MARKED = "SELECT FROM offledger.state WHERE next_generation <> generation";

/** A clock that a snapshot moves on by a time. */
function slowClock() {
  let now = 0;
  async function* taking(ms: number): AsyncGenerator<StoredContract> {
    now += ms;
    yield fruit("slow");
  }
  return { clock: () => now, taking };
}

const failureOf = (writing: Promise<void>): Promise<unknown> => writing.catch((error: unknown) => error);

describe("a writer of an old epoch", () => {
  const writes: readonly [string, (writer: PostgresWriter) => Promise<void>][] = [
    ["an update", (writer) => writer.apply([active("late"), { archived: "a" }], 11)],
    ["an update without changes", (writer) => writer.apply([], 11)],
    ["an update in several batches", (writer) => writer.apply(everyType, 11)],
    ["a snapshot", (writer) => writer.replace([fruit("late")], 20)],
  ];

  test.each(writes)("writes nothing and reports once that it is lost: %s", async (_what, write) => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a"), counted("b", 5n)], 10);
    const next = await nextWriter();
    const rows = await allRows();
    const failure = await failureOf(write(writer));
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ kind: "lost" });
    // It does not try again.
    for (const [, again] of writes) expect(await failureOf(again(writer))).toBe(failure);
    expect(lost).toEqual([failure]);
    // A loaded snapshot remains until the next one is loaded.
    expect(await allRows()).toEqual(expect.arrayContaining(rows));
    expect(await stored()).toEqual([10, ["a"], 5n]);
    await next.writer.apply([active("next")], 11);
    expect(await stored()).toEqual([11, ["a", "next"], 5n]);
    expect(next.lost).toEqual([]);
  });

  test("deletes nothing that the next writer loads", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    await writer.apply([active("b"), { archived: "a" }], 11);
    const database = new PausableDatabase({ url: schema.url, maxConnections: 4 });
    onTestFinished(() => database.close());
    const next = await nextWriter({}, database);
    const swap = database.pause("query", "swap-generation");
    const replacing = next.writer.replace(snapshot, 5);
    await swap.reached;
    await writer.cleanUp();
    expect(await failureOf(writer.replace([fruit("late")], 20))).toMatchObject({ kind: "lost" });
    await writer.cleanUp();
    swap.resume();
    await replacing;
    const rows = await allRows();
    await writer.cleanUp();
    expect(await allRows()).toEqual(rows);
    expect(await stored()).toEqual([5, ["x", "y"], 7n]);
  });
});

describe("a writer", () => {
  test.each([
    ["ten minutes after they were served", "- interval '10 minutes'"],
    ["that were retired by a clock which was set back", "+ interval '1 minute'"],
  ])("cleans up old snapshots %s, and unfinished ones at once", async (_when, later) => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a", { supply: { sum: "USD", amount: 5n } }), counted("b", 5n)], 10);
    await writer.apply([{ archived: "a" }, active("c")], 11);
    const served = async () => {
      const [state] = await schema.sql<{ generation: string }>("SELECT generation FROM offledger.state");
      return state?.generation ?? "";
    };
    const old = [await served()];
    await expect(writer.replace([fruit("x"), fruit("y"), fruit("x")], 12)).rejects.toThrow("appears twice");
    for (const id of ["d", "e"]) {
      await writer.replace([fruit(id), counted("f", 7n)], 13);
      old.push(await served());
    }
    const present = async () => {
      const found = new Set<string>();
      for (const table of tables) {
        const rows = await schema.sql<{ generation: string }>(`SELECT DISTINCT generation FROM offledger.${table}`);
        for (const { generation } of rows) found.add(generation);
      }
      return [...found].toSorted();
    };
    await writer.cleanUp();
    expect(await present()).toEqual(old);
    await schema.sql(`UPDATE offledger.retired_generations SET retired_at = retired_at ${later}`);
    await writer.cleanUp();
    expect(await present()).toEqual(old.slice(-1));
    expect(await schema.sql("SELECT FROM offledger.retired_generations")).toEqual([]);
    expect(await stored()).toEqual([13, ["e"], 7n]);
  });

  test("gives followers as long as it has filled, and ten seconds at most", async () => {
    const pauses: number[] = [];
    const { clock: slow, taking } = slowClock();
    const pause = async (ms: number) => void pauses.push(ms);
    const { writer } = await nextWriter({ clock: slow, pause });
    await writer.replace(snapshot, 10);
    expect(pauses).toEqual([]);
    await writer.replace(taking(100), 11);
    await writer.replace(taking(60_000), 12);
    expect(pauses).toEqual([100, 10_000]);
  });

  test("serves no snapshot after the end of its term", async () => {
    const end = new AbortController();
    const { clock: slow, taking } = slowClock();
    const { writer, lost } = await nextWriter({ clock: slow, signal: end.signal });
    await writer.replace([fruit("a"), counted("b", 5n)], 10);
    const replacing = failureOf(writer.replace(taking(60_000), 11));
    await until("it is filled", async () => (await schema.sql(MARKED)).length > 0);
    end.abort();
    expect(await within(5_000, "it ends", replacing)).toMatchObject({ kind: "lost" });
    expect([lost.length, await stored()]).toEqual([1, [10, ["a"], 5n]]);
  });

  test("rejects one of two concurrent updates, and is lost", async () => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    const session = await schema.database.openSession();
    onTestFinished(() => session.end());
    await session.query("BEGIN; SELECT FROM offledger.state FOR UPDATE");
    const updates = Promise.allSettled([writer.apply([active("b")], 11), writer.apply([active("c")], 12)]);
    const waiting =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%fence%'";
    await until("both wait", async () => (await schema.sql(waiting)).length === 2);
    await session.query("COMMIT");
    const outcomes = await updates;
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(lost).toHaveLength(1);
    expect([
      [11, ["a", "b"], 0n],
      [12, ["a", "c"], 0n],
    ]).toContainEqual(await stored());
  });

  test.each([
    ["moved on", "ledger_offset = 11"],
    ["restored", "ledger_offset = 9"],
    ["taken over", "epoch = epoch + 1"],
  ])("is lost, once, if the store was %s by another process", async (_what, change) => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a"), counted("b", 5n)], 10);
    await schema.sql(`UPDATE offledger.state SET ${change}`);
    const rows = await allRows();
    const failures = await Promise.all(
      [everyType, [active("c")], []].map((changes) => failureOf(writer.apply(changes, 12))),
    );
    for (const failure of failures) expect(failure).toMatchObject({ kind: "lost" });
    expect(lost).toHaveLength(1);
    expect(await allRows()).toEqual(rows);
  });
});

describe("the next writer resumes", () => {
  test.each<[string, Partial<WriterOptions>, boolean]>([
    ["with the same content and origin", {}, true],
    ["not with another content", { contentId: "others" }, false],
    ["not with another origin", { origin: () => "another ledger" }, false],
  ])("%s", async (_what, content, resumes) => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a", { labels: ["a", "b"] })], 10);
    await writer.apply([], 11, undefined, "update-11");
    const { checkpoint } = (await nextWriter(content)).writer;
    expect([checkpoint?.offset, checkpoint?.updateId]).toEqual(resumes ? [11, "update-11"] : [undefined, undefined]);
  });
});

const contentIdOf = (entry: string) => {
  const { file, problems } = parseRegistryFile(`
name: tea
package: tea
templates: { rules: { name: "Tea:Rules", registrar: admin } }
factory: { template: rules }
instruments: [USD]
entries: { rules: ${entry} }
`);
  if (file === undefined) throw new Error(problems.join());
  return contentId(tableRegistry(file).templates);
};

test("a registry file that finds its contracts by other fields, and another revision, have another content id", () => {
  const byOwner = contentIdOf("{ template: rules, find: { owner: receiver } }");
  expect(contentIdOf("{ template: rules, find: { owner: sender }, unique: true }")).toBe(byOwner);
  expect(contentIdOf("{ template: rules, find: { holder: receiver } }")).not.toBe(byOwner);
  expect(contentIdOf("{ template: rules, find: { owner: receiver, holder: receiver } }")).not.toBe(byOwner);

  const revisions = [{}, { revision: "1" }, { revision: "2" }].map((more) => contentId([{ ...apple, ...more }]));
  expect(
    new Set([
      ...revisions,
      contentId([apple], { countsSupply: true }),
      contentId([apple], { keepsOptional: true }),
      contentId([apple], { registrars: ["a::1"] }),
    ]).size,
  ).toBe(6);
});
