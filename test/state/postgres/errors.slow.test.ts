/** Errors of a real server by kind. No message contains SQL, values or credentials. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { contentHash } from "../../../src/state/lookup-hash.js";
import { StoreUnavailable } from "../../../src/state/port.js";
import { Database } from "../../../src/state/postgres/database.js";
import { DatabaseError, type DatabaseErrorKind } from "../../../src/state/postgres/errors.js";
import { migrate } from "../../../src/state/postgres/migrate.js";
import { followerOf } from "../../fixtures/follower.js";
import { apple, fruit, fruits } from "../../fixtures/fruits.js";
import { freshDatabase, ownServer } from "../../fixtures/postgres.js";
import { beginWriter, CONTENT, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { until } from "../../fixtures/wait.js";

/** Part of every statement and of its values. */
const SECRET = "swordfish";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const failureOf = (result: Promise<unknown>): Promise<unknown> => result.catch((error: unknown) => error);

/** Expects a kind and words in the message, and no secret anywhere. */
async function expectFailure(
  failing: Promise<unknown>,
  kind: DatabaseErrorKind,
  words: string,
  url = schema.url,
): Promise<void> {
  const failure = await failureOf(failing);
  expect(failure).toBeInstanceOf(DatabaseError);
  const { message, stack = "", ...rest } = failure as DatabaseError;
  expect({ message, kind: rest.kind }).toEqual({ message: expect.stringContaining(words) as string, kind });
  const { password } = new URL(url);
  for (const secret of [SECRET, password, "SELECT", "pg_sleep"]) expect(message).not.toContain(secret);
  // A logger writes these too.
  for (const secret of [SECRET, password]) expect(stack + JSON.stringify(rest)).not.toContain(secret);
  expect((failure as DatabaseError).cause).toBeUndefined();
}

function databaseAt(url: string): Database {
  const database = new Database({ url, maxConnections: 2 });
  onTestFinished(() => database.close());
  return database;
}

const query = (database: Database, text: string): Promise<unknown> =>
  database.query({ name: "query", text: `SELECT '${SECRET}', $1::text, x.* FROM (${text}) x` }, [SECRET]);

/** Expects the same error from queries, transactions and sessions. */
async function expectEverywhere(database: Database, kind: DatabaseErrorKind, words: string, url?: string) {
  await expectFailure(query(database, "SELECT 1"), kind, words, url);
  await expectFailure(
    database.transaction((client) => client.query("SELECT 1")),
    kind,
    words,
    url,
  );
  await expectFailure(database.openSession(), kind, words, url);
}

test.each<[string, Partial<URL>, DatabaseErrorKind, string]>([
  ["a wrong password", { password: "not-the-password" }, "denied", "password authentication failed for user"],
  ["a role that does not exist", { username: "nobody_at_all" }, "denied", "nobody_at_all"],
  ["a missing database", { pathname: "none" }, "denied", 'database "none" does not exist (SQLSTATE 3D000)'],
  ["an unknown host", { hostname: "no-such-host.invalid" }, "unavailable", "cannot be reached"],
])("a connection with %s", async (_what, change, kind, words) => {
  const url = Object.assign(new URL(schema.url), change).href;
  await expectEverywhere(databaseAt(url), kind, words, url);
});

const DUPLICATE = `INSERT INTO offledger.log_counted_only
  VALUES (1, '${SECRET}', gen_random_uuid(), 1), (1, '${SECRET}', gen_random_uuid(), 1)`;

test.each<[string, string, DatabaseErrorKind, string]>([
  ["without its table", "SELECT FROM offledger.none", "schema", "(SQLSTATE 42P01)"],
  ["without its column", "SELECT none FROM offledger.state", "schema", "(SQLSTATE 42703)"],
  [
    "on a standby",
    `SET TRANSACTION READ ONLY; UPDATE offledger.state SET content_id = '${SECRET}'`,
    "unavailable",
    "(SQLSTATE 25006)",
  ],
  ["that violates a constraint", DUPLICATE, "defect", "duplicate key value violates unique constraint"],
  ["with an error", "SELECT 1 / 0", "defect", "division by zero (SQLSTATE 22012)"],
])("a statement %s, in a transaction that is rolled back", async (_what, text, kind, words) => {
  const failing = schema.database.transaction(async (client) => {
    if (kind !== "unavailable") await client.query("INSERT INTO offledger.log_commits VALUES (7, 1)");
    await client.query(text);
  });
  await expectFailure(failing, kind, words);
  expect(await schema.sql("SELECT FROM offledger.log_commits")).toEqual([]);
});

test("a query that violates a constraint, and one on a missing schema", async () => {
  const insert = { name: "broken", text: DUPLICATE };
  await expectFailure(schema.database.query(insert), "defect", "duplicate key value violates unique constraint");
  const fresh = await freshDatabase();
  onTestFinished(() => fresh.drop());
  const begun = beginWriter(databaseAt(fresh.url), { contentId: SECRET, origin: () => SECRET });
  await expectFailure(begun, "schema", 'relation "offledger.state" does not exist (SQLSTATE 42P01)');
});

describe("the next query works", () => {
  const next = { name: "next", text: "SELECT pg_backend_pid() AS pid" };

  test("after one that takes too long", async () => {
    const database = databaseAt(`${schema.url}?statement_timeout=100`);
    const words = "canceling statement due to statement timeout (SQLSTATE 57014)";
    await expectFailure(query(database, "SELECT pg_sleep(20)"), "unavailable", words);
    await database.query(next);
  });

  test("after one whose session is terminated", async () => {
    const database = databaseAt(schema.url);
    const words = "terminating connection due to administrator command (SQLSTATE 57P01)";
    const pending = expectFailure(query(database, "SELECT pg_sleep(20)"), "unavailable", words);
    await until("the query is terminated", async () => {
      const ended = await schema.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`,
      );
      return ended.length > 0;
    });
    await pending;
    expect(await database.query(next)).toHaveLength(1);
  });

  test("soon, after an idle session is terminated", async () => {
    const database = databaseAt(schema.url);
    const [row] = await database.query<{ pid: number }>(next);
    await schema.sql("SELECT pg_terminate_backend($1)", [row?.pid]);
    await until("a query works again", async () => Array.isArray(await failureOf(database.query(next))));
    expect(await database.query(next)).toHaveLength(1);
  });

  test("after a transaction whose connection is lost", async () => {
    for (let round = 0; round < 3; round++) {
      const lost = schema.database.transaction(async (client) => {
        const { rows } = await client.query<{ pid: number }>(next.text);
        await schema.sql("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
        // An unhandled error event would end the process here.
        await delay(20);
        await client.query("SELECT 1");
      });
      await expectFailure(lost, "unavailable", "");
      const made = schema.database.transaction(async (client) => (await client.query("SELECT 1 AS one")).rows);
      expect(await made).toEqual([{ one: 1 }]);
    }
  });
});

/** A process that stalls sees late that it has lost its connection. */
test("a read is repeated once, however late its connection is lost", async () => {
  const database = new Database({
    url: schema.url,
    maxConnections: 2,
    timeouts: { connectMs: 1_000, statementMs: 5_000 },
  });
  onTestFinished(() => database.close());
  const asked = performance.now();
  const reading = database.read({ name: "late", text: "SELECT pg_sleep(1.3)" });
  await until("it is late", () => performance.now() > asked + 1_100);
  await schema.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE '%pg_sleep(1.3)%' AND pid <> pg_backend_pid()`,
  );
  expect(await reading).toHaveLength(1);
  // It ran twice.
  expect(performance.now() - asked).toBeGreaterThan(2_200);
});

test("a server that stops is unavailable for readers and writers, and recovers", async () => {
  const server = await ownServer();
  onTestFinished(() => server.remove());
  const { url } = server;
  const database = databaseAt(url);
  await migrate(database);
  // As a leader does when its term begins.
  const begin = "INSERT INTO offledger.state (content_hash, content_id) VALUES ($1, $2)";
  await database.query({ name: "begin", text: begin }, [contentHash(CONTENT), CONTENT]);
  for (const mode of ["fast", "immediate"] as const) {
    const lost: DatabaseError[] = [];
    const onLost = (error: DatabaseError) => void lost.push(error);
    const writer = await beginWriter(database, { origin: () => SECRET, onLost });
    await writer.replace([fruit(SECRET)], 10);
    const followed = followerOf(database, { templates: fruits });
    const { refresh, bodies, follower } = followed;
    const find = (id: string) => followed.read((view) => view.byId(apple, id));
    await refresh();
    const found = find(SECRET);
    expect(found?.contractId).toBe(SECRET);

    await server.stop(mode);
    await expectEverywhere(database, "unavailable", "", url);
    const take = async () => bodies?.take(found === undefined ? [] : [found], { generation: "1", offset: 10 });
    const throwFailure = async () => {
      throw follower.status.failure;
    };
    // For callers, who are told nothing of the database.
    const words = "the required contracts cannot be read at the moment; try again later";
    for (const fail of [refresh, throwFailure, take]) {
      const failure = await failureOf(fail());
      expect(failure).toEqual(new StoreUnavailable(words));
      await expectFailure(Promise.reject((failure as Error).cause), "unavailable", "", url);
    }
    // What is in memory is served.
    expect(find(SECRET)).toBe(found);
    const writing = writer.apply([{ active: fruit("late") }], 11);
    await expectFailure(writing, "unavailable", "", url);
    expect(lost).toEqual([await failureOf(writing)]);

    await server.start();
    await refresh();
    expect(follower.status.failure).toBeUndefined();
    expect(find("late")).toBeUndefined();
  }
});
