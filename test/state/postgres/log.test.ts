/** The log of a content in a database, and a follower of it; src/state/postgres/log.ts. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HEARTBEAT_STATEMENT } from "../../../src/ingest/lease.js";
import { contentHash } from "../../../src/state/lookup-hash.js";
import { StoreUnavailable } from "../../../src/state/port.js";
import { channels, Database } from "../../../src/state/postgres/database.js";
import { PostgresLog } from "../../../src/state/postgres/log.js";
import { trimStatement } from "../../../src/state/postgres/cleanup.js";
import type { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { beginWriter, CONTENT, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";
import { followedWriter, followerOf } from "../../fixtures/follower.js";
import { apple, fruit, fruits } from "../../fixtures/fruits.js";
import { until, within } from "../../fixtures/wait.js";
import { storeConformance } from "../conformance/conformance.js";
import { logConformance } from "../log-conformance.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const { signal } = new AbortController();

/** A writer in a new epoch. */
async function nextWriter(
  origin = "tests",
  pause = async () => {},
): Promise<{ epoch: number; writer: PostgresWriter }> {
  const epoch = await schema.nextEpoch();
  return { epoch, writer: await beginWriter(schema.database, { epoch, origin: () => origin, pause }) };
}

logConformance("PostgreSQL", async (templates) => {
  const { database } = schema;
  let preparing = async () => {};
  const wait = () => preparing();
  let { epoch, writer } = await nextWriter("tests", wait);
  const next = async (origin?: string) => {
    ({ epoch, writer } = await nextWriter(origin, wait));
    return writer;
  };
  const session = await database.openSession();
  const stored = ["state", ...tables.filter((table) => table.startsWith("log_"))];
  return {
    log: new PostgresLog(database, { templates, contentId: CONTENT }),
    writer,
    otherWriter: () => next("another ledger"),
    async heartbeat(age, otherHistory) {
      await schema.sql(HEARTBEAT_STATEMENT, [epoch, age ?? null, otherHistory ?? null, contentHash(CONTENT)]);
    },
    async trim(offset) {
      await schema.sql("DELETE FROM offledger.log_commits WHERE ledger_offset < $1", [offset]);
      await schema.sql("DELETE FROM offledger.log_tombstones WHERE ledger_offset < $1", [offset]);
    },
    async backup() {
      for (const table of stored) await schema.sql(`CREATE TABLE backup_${table} AS TABLE offledger.${table}`);
      return async () => {
        for (const table of stored) {
          await schema.sql(`DELETE FROM offledger.${table}`);
          await schema.sql(`INSERT INTO offledger.${table} TABLE backup_${table}`);
          await schema.sql(`DROP TABLE backup_${table}`);
        }
        return next();
      };
    },
    beforeSwap: (use) => void (preparing = use),
    cleanUp: () => writer.cleanUp(),
    async answerRequests() {
      session.on(
        "notification",
        ({ payload }) => void schema.sql("SELECT pg_notify($1, $2)", [channels.caughtUp, payload]),
      );
      await session.query(`LISTEN ${channels.catchUpRequested}`);
    },
    async close() {
      await session.end();
      await schema.empty();
    },
  };
});

/** It moves with each write. */
storeConformance("PostgreSQL by way of a follower", async (templates) => {
  const { writer } = await nextWriter();
  const reader = followerOf(schema.database, { templates });
  return {
    writer: followedWriter(writer, reader.refresh),
    reader,
    keepsBodiesApart: true,
    close: () => schema.empty(),
  };
});

test("notices of other contents are not told", async () => {
  onTestFinished(() => schema.empty());
  const { epoch, writer } = await nextWriter();
  const others = "others";
  await schema.sql("INSERT INTO offledger.state (content_hash, content_id, epoch) VALUES ($1, $2, $3)", [
    contentHash(others),
    others,
    epoch,
  ]);
  const other = await beginWriter(schema.database, { epoch, contentId: others });
  await writer.replace([fruit("a")], 5);

  const counts = { listening: 0, committed: 0 };
  const end = new AbortController();
  const ended = new PostgresLog(schema.database, { templates: fruits, contentId: CONTENT }).listen(
    {
      listening: () => void counts.listening++,
      committed: () => void counts.committed++,
      caughtUp: () => undefined,
    },
    end.signal,
  );
  await until("it listens", () => counts.listening === 1);
  const heartbeat = (of: string) => schema.sql(HEARTBEAT_STATEMENT, [epoch, 0, null, contentHash(of)]);
  const writes: readonly [of: string, write: () => Promise<unknown>][] = [
    [others, () => other.replace([fruit("b")], 5)],
    [others, () => other.apply([{ archived: "b" }], 6)],
    [others, () => heartbeat(others)],
    [CONTENT, () => writer.apply([{ archived: "a" }], 6)],
    [CONTENT, () => heartbeat(CONTENT)],
    [CONTENT, () => writer.replace([], 7)],
  ];
  for (const [, write] of writes) await write();
  // Notices come in the order of commits.
  await until("those of its own come", () => counts.committed >= 4);
  // A snapshot is told when it is filled, and when it is served.
  expect(counts.committed).toBe(4);
  end.abort();
  await ended;
  const listening = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
  await until("its session has ended", async () => (await schema.sql(listening)).length === 0, 5_000);
});

describe("without a database", () => {
  const ignore = () => undefined;
  const notices = { listening: ignore, committed: ignore, caughtUp: ignore };
  /** What an operator needs to know. */
  const cause = expect.objectContaining({ kind: "unavailable" });
  const unavailable = expect.objectContaining({ name: "StoreUnavailable", cause });

  /** Ends the connections to the database of which this holds. */
  const cut = (condition: string) =>
    schema.sql(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`);

  test.each<[string, (log: PostgresLog) => Promise<unknown>]>([
    ["progress", (log) => log.progress(undefined)],
    ["a load", (log) => log.load(async () => undefined, signal)],
    ["bodies", (log) => log.bodies(["a"], 1)],
    ["listening", (log) => log.listen(notices, new AbortController().signal)],
    ["a request to catch up", (log) => log.requestCatchUp("id")],
  ])("%s is unavailable", async (_what, use) => {
    const database = new Database({ url: "postgres://nobody@127.0.0.1:1/none", maxConnections: 1 });
    onTestFinished(() => database.close());
    await expect(use(new PostgresLog(database, { templates: fruits, contentId: CONTENT }))).rejects.toEqual(
      unavailable,
    );
  });

  test("a load that has begun is unavailable, and the next one works", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 5);
    const log = new PostgresLog(schema.database, { templates: fruits, contentId: CONTENT });
    const loading = log.load(async (state) => {
      await cut("state = 'idle in transaction'");
      for await (const _contract of state?.contracts ?? []) throw new Error("there is a connection");
    }, signal);
    await expect(loading).rejects.toEqual(unavailable);
    expect(await log.load(async (state) => state?.head.offset, signal)).toBe(5);
    await schema.empty();
  });

  test("a load that waits for the database ends with its signal", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 5);
    onTestFinished(() => schema.empty());
    const session = await schema.database.openSession();
    onTestFinished(() => session.end());
    await session.query("BEGIN; LOCK TABLE offledger.log_contracts IN ACCESS EXCLUSIVE MODE");
    const log = new PostgresLog(schema.database, { templates: fruits, contentId: CONTENT });
    const end = new AbortController();
    const loading = log.load(async (state) => {
      for await (const _contract of state?.contracts ?? []) throw new Error("there is no lock");
    }, end.signal);
    await until("it waits", async () => {
      const waiting = await schema.sql(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DECLARE contracts%'",
      );
      return waiting.length > 0;
    });
    end.abort();
    await expect(within(10_000, "it ends", loading)).rejects.toThrow(StoreUnavailable);
    await session.query("ROLLBACK");
  });

  test("listening ends", async () => {
    const log = new PostgresLog(schema.database, { templates: fruits, contentId: CONTENT });
    let listens = false;
    const end = new AbortController();
    const ended = log.listen({ ...notices, listening: () => (listens = true) }, end.signal);
    await until("it listens", () => listens);
    await cut("query LIKE 'LISTEN%'");
    await ended;
    expect(end.signal.aborted).toBe(false);
  });
});

describe("trimming", () => {
  const steps = async (log: PostgresLog, generation: number, offsets: readonly number[]) => {
    const found: unknown[] = [];
    for (const offset of offsets) {
      const progress = await log.progress({ generation, offset, updateId: `update-${offset}` });
      found.push(progress === "empty" ? progress : progress.step?.archived.length);
    }
    return found;
  };

  /** Commits from 6 on, each of which has archived `archived` contracts. */
  async function trimmed(commits: number, archived: number) {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 5);
    const [state] = await schema.sql<{ generation: string }>("SELECT generation FROM offledger.state");
    const generation = Number(state?.generation);
    const last = 5 + commits;
    await schema.sql(
      "INSERT INTO offledger.log_commits SELECT $1, n, 'update-' || n FROM generate_series(6, $2::bigint) n",
      [generation, last],
    );
    await schema.sql(
      `INSERT INTO offledger.log_tombstones SELECT $1, n || '-' || m, n, NULL, '{}'
       FROM generate_series(6, $2::bigint) n, generate_series(1, $3::bigint) m`,
      [generation, last, archived],
    );
    await schema.sql("UPDATE offledger.state SET ledger_offset = $1, update_id = $2", [last, `update-${last}`]);
    const resumed = (await nextWriter()).writer;
    await resumed.cleanUp();
    const [kept] = await schema.sql(
      `SELECT (SELECT count(*) FROM offledger.log_commits)::int AS commits,
         (SELECT count(*) FROM offledger.log_tombstones)::int AS tombstones`,
    );
    const log = new PostgresLog(schema.database, { templates: [apple], contentId: CONTENT });
    onTestFinished(() => schema.empty());
    return { kept, stepsFrom: (offsets: readonly number[]) => steps(log, generation, offsets), last };
  }

  test("keeps 20,000 commits, from which steps lead on", async () => {
    const { kept, stepsFrom, last } = await trimmed(20_500, 1);
    expect(kept).toEqual({ commits: 20_000, tombstones: 20_500 });
    expect(await stepsFrom([last - 20_000, last - 19_999, last - 1, last])).toEqual([undefined, 19_999, 1, 0]);
  });

  test("keeps 100,000 tombstones at least, and all after the first position that is left", async () => {
    const { kept, stepsFrom, last } = await trimmed(15, 8_000);
    // The oldest of 100,000 is of a commit that archived 8,000.
    expect(kept).toEqual({ commits: 13, tombstones: 104_000 });
    expect(await stepsFrom([last - 13, last - 12, last - 2, last])).toEqual([undefined, undefined, 16_000, 0]);
    const log = new PostgresLog(schema.database, { templates: [apple], contentId: CONTENT });
    const loaded = await log.load(async (state) => {
      const ids: string[] = [];
      for await (const { contractId } of state?.archived ?? []) ids.push(contractId);
      return ids;
    }, signal);
    expect([loaded.length, loaded[0]?.split("-")[0], loaded.at(-1)?.split("-")[0]]).toEqual([
      100_000,
      String(last - 12),
      String(last),
    ]);
  });

  describe("bodies of archived contracts", () => {
    const ids = async () =>
      (await schema.sql<{ id: string }>("SELECT contract_id AS id FROM offledger.log_bodies ORDER BY 1")).map(
        ({ id }) => id,
      );
    const state = async () => {
      const [row] = await schema.sql<{ generation: string; offset: string }>(
        "SELECT generation, ledger_offset AS offset FROM offledger.state",
      );
      if (row === undefined) throw new Error("there is no state");
      return row;
    };
    /** As many commits after the latest, without changes. */
    const commitMore = (count: number) =>
      schema.sql(
        `WITH moved AS (UPDATE offledger.state SET ledger_offset = ledger_offset + $1 RETURNING generation, ledger_offset)
         INSERT INTO offledger.log_commits SELECT generation, ledger_offset - n FROM moved, generate_series(0, $1::int - 1) n`,
        [count],
      );

    test("deletes them after 1,000 commits, in steps", async () => {
      onTestFinished(() => schema.empty());
      const { writer } = await nextWriter();
      const many = Array.from({ length: 2_500 }, (_, index) => `n${index}`);
      await writer.replace(
        ["a", "b", "c", ...many].map((id) => fruit(id)),
        5,
      );
      await writer.apply([{ archived: "a" }, ...many.map((archived) => ({ archived }))], 6);
      await commitMore(999);
      const later = (await nextWriter()).writer;
      await later.cleanUp();
      expect(await ids()).toHaveLength(2_503);
      await later.apply([{ archived: "b" }], 1_006);
      await later.cleanUp();
      expect(await ids()).toEqual(["b", "c"]);
      const [left] = await schema.sql("SELECT count(*)::int AS count FROM offledger.log_tombstones WHERE has_body");
      expect(left).toEqual({ count: 1 });
    });

    test("keeps those of contracts that are active again, until they are archived again", async () => {
      onTestFinished(() => schema.empty());
      const { writer } = await nextWriter();
      await writer.replace([fruit("a")], 5);
      await writer.apply([{ archived: "a" }], 6);
      await writer.apply([{ active: fruit("a") }], 7);
      await commitMore(1_500);
      const later = (await nextWriter()).writer;
      await later.cleanUp();
      expect(await ids()).toEqual(["a"]);
      await later.apply([{ archived: "a" }], 2_000);
      await commitMore(1_500);
      await (await nextWriter()).writer.cleanUp();
      expect(await ids()).toEqual([]);
    });

    test("keeps that of one that becomes active at the same time", async () => {
      onTestFinished(() => schema.empty());
      const { writer } = await nextWriter();
      await writer.replace([fruit("a")], 5);
      await writer.apply([{ archived: "a" }], 6);
      await commitMore(1_500);
      const later = (await nextWriter()).writer;
      const session = await schema.database.openSession();
      onTestFinished(() => session.end());
      // The trimming has its state, and waits for the row.
      await session.query("BEGIN; SELECT FROM offledger.log_bodies FOR KEY SHARE");
      const trimming = later.cleanUp();
      await until("it waits", async () => {
        const waiting = await schema.sql(
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%log_bodies%'",
        );
        return waiting.length > 0;
      });
      await later.apply([{ active: fruit("a") }], 2_000);
      await session.query("COMMIT");
      await trimming;
      expect((await state()).offset).toBe("2000");
      expect(await ids()).toEqual(["a"]);
    });

    test("keeps the tombstones of those that are left", async () => {
      onTestFinished(() => schema.empty());
      const { epoch, writer } = await nextWriter();
      await writer.replace([fruit("a")], 5);
      await writer.apply([{ archived: "a" }, { archived: "never stored" }], 6);
      const { generation } = await state();
      await schema.sql(
        "INSERT INTO offledger.log_tombstones SELECT $1, 'n' || n, 7, NULL, '{}' FROM generate_series(1, 100000) n",
        [generation],
      );
      await schema.sql(trimStatement.text, [generation, epoch]);
      const kept = await schema.sql("SELECT contract_id FROM offledger.log_tombstones WHERE ledger_offset = 6");
      expect(kept).toEqual([{ contract_id: "a" }]);
    });
  });

  test("by a writer of an old epoch deletes nothing", async () => {
    const { writer } = await nextWriter();
    await writer.replace([fruit("a")], 5);
    await schema.sql(
      "INSERT INTO offledger.log_commits SELECT generation, n FROM offledger.state, generate_series(6, 25000) n",
    );
    await nextWriter();
    await writer.cleanUp();
    const [{ count } = { count: "" }] = await schema.sql<{ count: string }>(
      "SELECT count(*) FROM offledger.log_commits",
    );
    expect(count).toBe("24996");
    await schema.empty();
  });
});
