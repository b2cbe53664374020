/** What a real server says, by what can be done about it, and without telling anybody what was asked. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/store/postgres/database.js";
import { DatabaseError, type DatabaseErrorKind } from "../../../src/store/postgres/errors.js";
import { migrate } from "../../../src/store/postgres/migrate.js";
import { Replica } from "../../../src/store/postgres/read/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/write/postgres-writer.js";
import { StoreUnavailable } from "../../../src/store/port.js";
import { apple, fruit, fruits } from "../../fixtures/fruits.js";
import { freshDatabase, type OwnServer, ownServer } from "../../fixtures/postgres.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-store.js";
import { until } from "../../fixtures/wait.js";

/** Stands in every statement and among the values of each. */
const SECRET = "swordfish";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** What an operator reads says this, and of what was asked, and of what lets one in, nothing. */
function expectTrouble(failure: unknown, kind: DatabaseErrorKind, words: string, url = schema.url): void {
  expect(failure).toBeInstanceOf(DatabaseError);
  const { message, stack = "", ...rest } = failure as DatabaseError;
  expect({ message, kind: rest.kind }).toEqual({ message: expect.stringContaining(words) as string, kind });
  const { password } = new URL(url);
  for (const secret of [SECRET, password, "SELECT", "pg_sleep"]) expect(message).not.toContain(secret);
  // A log writes all of it.
  for (const secret of [SECRET, password]) expect(stack + JSON.stringify(rest)).not.toContain(secret);
  expect((failure as DatabaseError).cause).toBeUndefined();
}

const failureOf = (asking: Promise<unknown>): Promise<unknown> => asking.catch((error: unknown) => error);

function databaseAt(url: string): Database {
  const database = new Database(url, 2);
  onTestFinished(() => database.close());
  return database;
}

const ask = (database: Database, text: string): Promise<unknown> =>
  database.query({ name: "asked", text: `SELECT '${SECRET}', $1::text, x.* FROM (${text}) x` }, [SECRET]);

/** Fails in the same way however it is asked. */
async function expectEverywhere(
  database: Database,
  kind: DatabaseErrorKind,
  words: string,
  url?: string,
): Promise<void> {
  expectTrouble(await failureOf(ask(database, "SELECT 1")), kind, words, url);
  expectTrouble(await failureOf(database.transaction((client) => client.query("SELECT 1"))), kind, words, url);
  expectTrouble(await failureOf(database.openSession()), kind, words, url);
}

const changed = (change: Partial<URL>): string => Object.assign(new URL(schema.url), change).href;

describe("a connection", () => {
  test("with another password is denied", async () => {
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

  test("to a host that has no address is away", async () => {
    await expectEverywhere(
      databaseAt(changed({ hostname: "no-such-host.invalid" })),
      "unavailable",
      "cannot be reached",
    );
  });
});

describe("a question", () => {
  test("that takes too long is away", async () => {
    const database = databaseAt(`${schema.url}?statement_timeout=100`);
    const failure = await failureOf(ask(database, "SELECT pg_sleep(20)"));
    expectTrouble(failure, "unavailable", "canceling statement due to statement timeout (SQLSTATE 57014)");
    // The next is asked as if nothing had been.
    await database.query({ name: "next", text: "SELECT 1" });
  }, 20_000);

  test("whose session is terminated is away, and the next opens another", async () => {
    const database = databaseAt(schema.url);
    const asking = failureOf(ask(database, "SELECT pg_sleep(20)"));
    await until("it is asked, and terminated", async () => {
      const ended = await schema.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`,
      );
      return ended.length > 0;
    });
    expectTrouble(await asking, "unavailable", "terminating connection due to administrator command (SQLSTATE 57P01)");
    await database.query({ name: "next", text: "SELECT 1" });
  });

  test("whose session is terminated while nobody uses it is asked over another", async () => {
    const database = databaseAt(schema.url);
    const [row] = await database.query<{ pid: number }>({ name: "pid", text: "SELECT pg_backend_pid() AS pid" });
    await schema.sql("SELECT pg_terminate_backend($1)", [row?.pid]);
    const asking = async () => (await failureOf(ask(database, "SELECT 1"))) instanceof Error;
    await until("a question is answered again", async () => !(await asking()));
    expect(await asking()).toBe(false);
  });

  test("of a schema that is not there says so", async () => {
    const fresh = await freshDatabase();
    onTestFinished(() => fresh.drop());
    const database = databaseAt(fresh.url);
    const words = 'relation "offledger.state" does not exist (SQLSTATE 42P01)';
    expectTrouble(await failureOf(ask(database, "SELECT * FROM offledger.state")), "schema", words);
    const begun = PostgresWriter.begin(database, 1, { contentId: SECRET, origin: SECRET }, () => {});
    expectTrouble(await failureOf(begun), "schema", words);
  });

  test("of a column that is not there says so", async () => {
    const asking = ask(schema.database, "SELECT unknown_column FROM offledger.state");
    expectTrouble(await failureOf(asking), "schema", "(SQLSTATE 42703)");
  });

  test("that a standby may not answer is away", async () => {
    const asking = schema.database.transaction(async (client) => {
      await client.query("SET TRANSACTION READ ONLY");
      await client.query(`UPDATE offledger.state SET content_id = '${SECRET}'`);
    });
    expectTrouble(await failureOf(asking), "unavailable", "(SQLSTATE 25006)");
  });

  test("that breaks a promise of the schema is a defect, and says nothing of the row", async () => {
    const insert = {
      name: "broken",
      text: "INSERT INTO offledger.counted_only VALUES (1, $1, gen_random_uuid(), 1), (1, $1, gen_random_uuid(), 1)",
    };
    const failure = await failureOf(schema.database.query(insert, [SECRET]));
    expectTrouble(failure, "defect", "duplicate key value violates unique constraint");
  });

  test("in a transaction takes back what came before it", async () => {
    const failure = await failureOf(
      schema.database.transaction(async (client) => {
        await client.query("INSERT INTO offledger.template_counts VALUES (7, gen_random_uuid(), 'pkg', 1)");
        await client.query("SELECT 1 / 0");
      }),
    );
    expectTrouble(failure, "defect", "division by zero (SQLSTATE 22012)");
    expect(await schema.sql("SELECT FROM offledger.template_counts")).toEqual([]);
  });
});

describe("a server that is stopped", () => {
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
    "%s is away, for readers and writers, and comes back",
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
      expectTrouble(await failureOf(replica.refresh()), "unavailable", "cannot be reached", server.url);
      expectTrouble(replica.status.failure, "unavailable", "cannot be reached", server.url);
      // What is kept is answered, and the rest is not.
      expect(await replica.read((view) => view.byId(apple, SECRET)?.contractId)).toBe(SECRET);
      const failure = await failureOf(Promise.resolve(replica.read((view) => view.byId(apple, `other ${SECRET}`))));
      expect(failure).toBeInstanceOf(StoreUnavailable);
      expect(failure).toMatchObject({
        message: "the required contracts cannot be read at the moment; try again later",
      });
      const writing = await failureOf(writer.apply([{ active: fruit("late") }], 11));
      expectTrouble(writing, "unavailable", "", server.url);
      expect(lost).toEqual([writing]);

      await server.start();
      await replica.refresh();
      expect(replica.status.failure).toBeUndefined();
      expect(await replica.read((view) => view.byId(apple, "late"))).toBeUndefined();
    },
    60_000,
  );
});
