/** Fencing and cleanup; src/store/postgres/writer.ts. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { DatabaseError } from "../../../src/store/postgres/errors.js";
import { Replica } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import type { Change } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";
import { parseRegistryFile } from "../../../src/registry/engine/definition.js";
import { tableRegistry } from "../../../src/registry/engine/table-registry.js";
import { contentId } from "../../../src/store/postgres/content-id.js";
import { apple, byLabel, counted, fruit, fruits } from "../../fixtures/fruits.js";
import { PausableDatabase } from "../../fixtures/pausable-database.js";
import { clock, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(() => () => schema.empty());

interface Writer {
  readonly writer: PostgresWriter;
  readonly lost: ReturnType<typeof vi.fn<(error: DatabaseError) => void>>;
}

/** A writer in a new epoch. */
async function nextWriter(database = schema.database): Promise<Writer> {
  const [state] = await schema.sql<{ epoch: string }>("UPDATE offledger.state SET epoch = epoch + 1 RETURNING epoch");
  const lost = vi.fn<(error: DatabaseError) => void>();
  const written = { contentId: "tests", origin: "tests" };
  return { writer: await PostgresWriter.begin(database, Number(state?.epoch), written, lost), lost };
}

function held(): PausableDatabase {
  const database = new PausableDatabase(schema.url, 4);
  onTestFinished(() => database.close());
  return database;
}

/** Offset, ids of apples and the sum "USD", for a new reader. */
async function stored(): Promise<unknown> {
  const replica = new Replica(schema.database, { templates: fruits, contentId: "tests", cacheBytes: 0, clock });
  await replica.refresh();
  return replica.read((view) => [
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

const failureOf = (writing: Promise<void>): Promise<unknown> => writing.catch((error: unknown) => error);

describe("a writer of an old epoch", () => {
  const writes: [string, (writer: PostgresWriter) => Promise<void>][] = [
    ["an update", (writer) => writer.apply([active("late"), { archived: "a" }], 11)],
    ["an update without changes", (writer) => writer.apply([], 11)],
    ["an update in several batches", (writer) => writer.apply(everyType, 11)],
    ["a snapshot", (writer) => writer.replace([fruit("late")], 20)],
  ];

  test.each(writes)("writes nothing and reports once that it is lost: %s", async (_what, write) => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a"), counted("b", 5n)], 10);
    const next = await nextWriter();
    const served = await stored();
    const rows = await allRows();
    const failure = await failureOf(write(writer));
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ kind: "lost" });
    // It does not try again.
    for (const [, again] of writes) expect(await failureOf(again(writer))).toBe(failure);
    expect(lost.mock.calls).toEqual([[failure]]);
    expect(await stored()).toEqual(served);
    // A loaded snapshot remains until the next one is loaded.
    expect(await allRows()).toEqual(expect.arrayContaining(rows));
    await next.writer.apply([active("next")], 11);
    expect(await stored()).toEqual([11, ["a", "next"], 5n]);
    expect(next.lost).not.toHaveBeenCalled();
  });

  test("deletes nothing that the next writer loads", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    await writer.apply([active("b"), { archived: "a" }], 11);
    const database = held();
    const next = await nextWriter(database);
    const swap = database.pause("query", "swap-generation");
    const replacing = next.writer.replace([fruit("x"), fruit("y"), counted("z", 7n)], 5);
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
  test("does not delete the snapshot that it is loading", async () => {
    const database = held();
    const { writer } = await nextWriter(database);
    await writer.replace([fruit("a")], 10);
    const swap = database.pause("query", "swap-generation");
    const replacing = writer.replace([fruit("x"), fruit("y"), counted("z", 7n)], 20);
    await swap.reached;
    await writer.cleanUp();
    swap.resume();
    await replacing;
    expect(await stored()).toEqual([20, ["x", "y"], 7n]);
    await writer.cleanUp();
    expect(await stored()).toEqual([20, ["x", "y"], 7n]);
  });

  test("loads concurrent snapshots one after the other", async () => {
    const database = held();
    const { writer } = await nextWriter(database);
    await writer.replace([fruit("a")], 10);
    const [swap, later] = [database.pause("query", "swap-generation"), database.pause("query", "swap-generation")];
    const first = writer.replace([fruit("x"), fruit("y"), counted("z", 7n)], 20);
    await swap.reached;
    const second = writer.replace([fruit("b")], 30);
    // Long enough for a second load that does not wait.
    await Promise.race([later.reached, delay(500)]);
    swap.resume();
    await first;
    expect(await stored()).toEqual([20, ["x", "y"], 7n]);
    later.resume();
    await second;
    expect(await stored()).toEqual([30, ["b"], 0n]);
  });

  test("cleans up old and unfinished snapshots", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a", { supply: { sum: "USD", amount: 5n } }), counted("b", 5n)], 10);
    await writer.apply([{ archived: "a" }, active("c")], 11);
    await expect(writer.replace([fruit("x"), fruit("y"), fruit("x")], 12)).rejects.toThrow("appears twice");
    await writer.replace([fruit("d"), counted("e", 7n)], 13);
    await writer.cleanUp();
    const generations = await Promise.all(
      tables.map((table) => schema.sql(`SELECT DISTINCT generation FROM offledger.${table}`)),
    );
    const [state] = await schema.sql<{ generation: string }>("SELECT generation FROM offledger.state");
    for (const rows of generations) expect([[], [{ generation: state?.generation }]]).toContainEqual(rows);
    expect(await stored()).toEqual([13, ["d"], 7n]);
  });

  test("rejects one of two concurrent updates, and is lost", async () => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    const outcomes = await Promise.allSettled([writer.apply([active("b")], 11), writer.apply([active("c")], 12)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(lost).toHaveBeenCalledTimes(1);
    expect([
      [11, ["a", "b"], 0n],
      [12, ["a", "c"], 0n],
    ]).toContainEqual(await stored());
  });

  test.each([
    ["moved on", 11],
    ["restored", 9],
  ])("is lost if the store was %s by another process", async (_what, offset) => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a"), counted("b", 5n)], 10);
    await schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);
    const rows = await allRows();
    for (const changes of [everyType, [active("c")], []]) {
      const failure = await failureOf(writer.apply(changes, 12));
      expect(failure).toMatchObject({ kind: "lost" });
    }
    expect(lost).toHaveBeenCalledTimes(1);
    expect(await allRows()).toEqual(rows);
  });

  test("reports once that it is lost if two writes fail", async () => {
    const { writer, lost } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    await nextWriter();
    const failures = await Promise.all([
      failureOf(writer.apply([active("b")], 11)),
      failureOf(writer.apply([active("c")], 12)),
    ]);
    for (const failure of failures) expect(failure).toMatchObject({ kind: "lost" });
    expect(lost).toHaveBeenCalledTimes(1);
  });

  test("resumes only where a writer with the same content and origin stopped", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 10);
    await writer.apply([active("b")], 11, undefined, "update-11");
    expect((await nextWriter()).writer.checkpoint).toMatchObject({ offset: 11, updateId: "update-11" });
    for (const written of [
      { contentId: "others", origin: "tests" },
      { contentId: "tests", origin: "another ledger" },
    ]) {
      const other = await PostgresWriter.begin(schema.database, 2, written, () => {});
      expect(other.checkpoint).toBeUndefined();
    }
  });
});

/** What a template reads. */
const keys = (indexKeys: readonly string[]) => () => ({ fields: null, indexKeys });

describe("a writer whose templates give other index keys than those stored", () => {
  const cases: readonly [string, Template["parse"], boolean][] = [
    ["resumes with the same, in any order", keys([byLabel("b"), byLabel("a"), byLabel("a")]), true],
    ["starts anew with another one", keys([byLabel("a"), byLabel("c")]), false],
    ["starts anew with one less", keys([byLabel("a")]), false],
    ["starts anew with one more", keys([byLabel("a"), byLabel("b"), byLabel("c")]), false],
    ["starts anew if it does not want the contract any more", () => undefined, false],
    [
      "starts anew if it cannot read the contract any more",
      () => {
        throw new Error("labels is missing");
      },
      false,
    ],
  ];

  test.each(cases)("%s", async (_what, parse, resumes) => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a", { labels: ["a", "b"] })], 10);
    const [{ epoch } = { epoch: "0" }] = await schema.sql<{ epoch: string }>("SELECT epoch FROM offledger.state");
    const { packageName, qualifiedName } = apple;
    const content = { contentId: "tests", origin: "tests", templates: [{ packageName, qualifiedName, parse }] };
    const next = await PostgresWriter.begin(schema.database, Number(epoch), content, () => undefined);
    expect(next.checkpoint?.offset).toBe(resumes ? 10 : undefined);
  });
});

/** Of a registry file with this entry. */
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
  return contentId(tableRegistry(file).templates, false);
};

test("a registry file that finds its contracts by other fields has another content id", () => {
  const byOwner = contentIdOf("{ template: rules, find: { owner: receiver } }");
  expect(contentIdOf("{ template: rules, find: { owner: sender }, optional: true }")).toBe(byOwner);
  expect(contentIdOf("{ template: rules, find: { holder: receiver } }")).not.toBe(byOwner);
  expect(contentIdOf("{ template: rules, find: { owner: receiver, holder: receiver } }")).not.toBe(byOwner);
});
