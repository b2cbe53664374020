/** Errors of a real server by kind. No message contains SQL, values or credentials. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/store/postgres/database.js";
import { DatabaseError, type DatabaseErrorKind } from "../../../src/store/postgres/errors.js";
import { migrate } from "../../../src/store/postgres/migrate.js";
import { Replica } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import { StoreUnavailable } from "../../../src/store/port.js";
import { apple, fruit, fruits } from "../../fixtures/fruits.js";
import { freshDatabase, type OwnServer, ownServer } from "../../fixtures/postgres.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { until } from "../../fixtures/wait.js";

/** Part of every statement and of its values. */
const SECRET = "swordfish";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** Expects a kind and words in the message, and no secret anywhere. */
function expectDatabaseError(failure: unknown, kind: DatabaseErrorKind, words: string, url = schema.url): void {
  expect(failure).toBeInstanceOf(DatabaseError);
  const { message, stack = "", ...rest } = failure as DatabaseError;
  expect({ message, kind: rest.kind }).toEqual({ message: expect.stringContaining(words) as string, kind });
  const { password } = new URL(url);
  for (const secret of [SECRET, password, "SELECT", "pg_sleep"]) expect(message).not.toContain(secret);
  // A logger writes these too.
  for (const secret of [SECRET, password]) expect(stack + JSON.stringify(rest)).not.toContain(secret);
  expect((failure as DatabaseError).cause).toBeUndefined();
}

const failureOf = (result: Promise<unknown>): Promise<unknown> => result.catch((error: unknown) => error);

function databaseAt(url: string): Database {
  const database = new Database(url, 2);
  onTestFinished(() => database.close());
  return database;
}

const query = (database: Database, text: string): Promise<unknown> =>
  database.query({ name: "query", text: `SELECT '${SECRET}', $1::text, x.* FROM (${text}) x` }, [SECRET]);

/** Expects the same error from queries, transactions and sessions. */
async function expectEverywhere(
  database: Database,
  kind: DatabaseErrorKind,
  words: string,
  url?: string,
): Promise<void> {
  expectDatabaseError(await failureOf(query(database, "SELECT 1")), kind, words, url);
  expectDatabaseError(await failureOf(database.transaction((client) => client.query("SELECT 1"))), kind, words, url);
  expectDatabaseError(await failureOf(database.openSession()), kind, words, url);
}

const changed = (change: Partial<URL>): string => Object.assign(new URL(schema.url), change).href;

describe("a connection", () => {
  test("with a wrong password is denied", async () => {
    const url = changed({ password: "not-the-password" });
    const words = "password authentication failed for user";
    await expectEverywhere(databaseAt(url), "denied", words, url);
  });

  test("as a role that does not exist is denied", async () => {
    await expectEverywhere(databaseAt(changed({ username: "nobody_at_all" })), "denied", "nobody_at_all");
  });

  test("to a database that does not exist is denied", async () => {
    const words = 'database "not_there" does not exist (SQLSTATE 3D000)';
    await expectEverywhere(databaseAt(changed({ pathname: "not_there" })), "denied", words);
  });

  test("to an unknown host is unavailable", async () => {
    await expectEverywhere(
      databaseAt(changed({ hostname: "no-such-host.invalid" })),
      "unavailable",
      "cannot be reached",
    );
  });
});

describe("a query", () => {
  test("that takes too long is unavailable", async () => {
    const database = databaseAt(`${schema.url}?statement_timeout=100`);
    const failure = await failureOf(query(database, "SELECT pg_sleep(20)"));
    expectDatabaseError(failure, "unavailable", "canceling statement due to statement timeout (SQLSTATE 57014)");
    // The next query works.
    await database.query({ name: "next", text: "SELECT 1" });
  }, 20_000);

  test("whose session is terminated is unavailable, and the next one works", async () => {
    const database = databaseAt(schema.url);
    const pending = failureOf(query(database, "SELECT pg_sleep(20)"));
    await until("the query is terminated", async () => {
      const ended = await schema.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`,
      );
      return ended.length > 0;
    });
    expectDatabaseError(
      await pending,
      "unavailable",
      "terminating connection due to administrator command (SQLSTATE 57P01)",
    );
    await database.query({ name: "next", text: "SELECT 1" });
  });

  test("after its idle session is terminated uses another", async () => {
    const database = databaseAt(schema.url);
    const [row] = await database.query<{ pid: number }>({ name: "pid", text: "SELECT pg_backend_pid() AS pid" });
    await schema.sql("SELECT pg_terminate_backend($1)", [row?.pid]);
    const isFailing = async () => (await failureOf(query(database, "SELECT 1"))) instanceof Error;
    await until("a query works again", async () => !(await isFailing()));
    expect(await isFailing()).toBe(false);
  });

  test("on a missing schema is a schema error", async () => {
    const fresh = await freshDatabase();
    onTestFinished(() => fresh.drop());
    const database = databaseAt(fresh.url);
    const words = 'relation "offledger.state" does not exist (SQLSTATE 42P01)';
    expectDatabaseError(await failureOf(query(database, "SELECT * FROM offledger.state")), "schema", words);
    const begun = PostgresWriter.begin(database, 1, { contentId: SECRET, origin: SECRET }, () => {});
    expectDatabaseError(await failureOf(begun), "schema", words);
  });

  test("on a missing column is a schema error", async () => {
    const pending = query(schema.database, "SELECT unknown_column FROM offledger.state");
    expectDatabaseError(await failureOf(pending), "schema", "(SQLSTATE 42703)");
  });

  test("that a standby cannot execute is unavailable", async () => {
    const pending = schema.database.transaction(async (client) => {
      await client.query("SET TRANSACTION READ ONLY");
      await client.query(`UPDATE offledger.state SET content_id = '${SECRET}'`);
    });
    expectDatabaseError(await failureOf(pending), "unavailable", "(SQLSTATE 25006)");
  });

  test("that violates a constraint is a defect, and the message has no values", async () => {
    const insert = {
      name: "broken",
      text: "INSERT INTO offledger.counted_only VALUES (1, $1, gen_random_uuid(), 1), (1, $1, gen_random_uuid(), 1)",
    };
    const failure = await failureOf(schema.database.query(insert, [SECRET]));
    expectDatabaseError(failure, "defect", "duplicate key value violates unique constraint");
  });

  test("that fails in a transaction rolls it back", async () => {
    const failure = await failureOf(
      schema.database.transaction(async (client) => {
        await client.query("INSERT INTO offledger.template_counts VALUES (7, gen_random_uuid(), 'pkg', 1)");
        await client.query("SELECT 1 / 0");
      }),
    );
    expectDatabaseError(failure, "defect", "division by zero (SQLSTATE 22012)");
    expect(await schema.sql("SELECT FROM offledger.template_counts")).toEqual([]);
  });
});

describe("a stopped server", () => {
  let server: OwnServer;
  let database: Database;
  beforeAll(async () => {
    server = await ownServer();
    database = new Database(server.url, 2);
    await migrate(database);
  }, 60_000);
  afterAll(async () => {
    await database.close();
    await server.remove();
  });
  beforeEach(async () => {
    await server.start().catch(() => undefined);
  });

  test.each(["fast", "immediate"] as const)(
    "(%s) is unavailable for readers and writers, and recovers",
    async (mode) => {
      const written = { contentId: "tests", origin: SECRET };
      const lost: DatabaseError[] = [];
      const writer = await PostgresWriter.begin(database, 0, written, (error) => lost.push(error));
      await writer.replace([fruit(SECRET)], 10);
      const replica = new Replica(database, { templates: fruits, contentId: "tests", cacheBytes: 1_000_000, clock });
      await replica.refresh();
      expect(await replica.read((view) => view.byId(apple, SECRET)?.contractId)).toBe(SECRET);

      await server.stop(mode);
      await expectEverywhere(database, "unavailable", "", server.url);
      expectDatabaseError(await failureOf(replica.refresh()), "unavailable", "cannot be reached", server.url);
      expectDatabaseError(replica.status.failure, "unavailable", "cannot be reached", server.url);
      // Cached data is served, the rest is not.
      expect(await replica.read((view) => view.byId(apple, SECRET)?.contractId)).toBe(SECRET);
      const failure = await failureOf(Promise.resolve(replica.read((view) => view.byId(apple, `other ${SECRET}`))));
      expect(failure).toBeInstanceOf(StoreUnavailable);
      expect(failure).toMatchObject({
        message: "the required contracts cannot be read at the moment; try again later",
      });
      const writing = await failureOf(writer.apply([{ active: fruit("late") }], 11));
      expectDatabaseError(writing, "unavailable", "", server.url);
      expect(lost).toEqual([writing]);

      await server.start();
      await replica.refresh();
      expect(replica.status.failure).toBeUndefined();
      expect(await replica.read((view) => view.byId(apple, "late"))).toBeUndefined();
    },
    60_000,
  );
});
