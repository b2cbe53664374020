/** The schema is put there once, whoever comes at the same time, and by nobody who must not. */
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { Client } from "pg";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/store/postgres/database.js";
import { DatabaseError } from "../../../src/store/postgres/errors.js";
import { type MigrationResult, migrate } from "../../../src/store/postgres/migrate.js";
import { freshDatabase } from "../../fixtures/postgres.js";

/** Each migration is one file. */
const files = await readdir(new URL("../../../src/store/postgres/migrations/", import.meta.url));
const latest = files.filter((file) => file.endsWith(".sql")).length;

let url: string;
let sql: Client;
beforeEach(async () => {
  const fresh = await freshDatabase();
  ({ url } = fresh);
  sql = new Client({ connectionString: url });
  await sql.connect();
  return async () => {
    await sql.end();
    await fresh.drop();
  };
});

/** Migrates as a process of its own would. */
async function migrating(as = url): Promise<MigrationResult> {
  const database = new Database(as, 1);
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}

/** Every column and index of the schema, with the versions that are noted and where the store stands. */
async function everything(): Promise<unknown[]> {
  const { rows } = await sql.query(`
    SELECT table_name::text AS name, column_name::text AS part, data_type::text AS is
    FROM information_schema.columns WHERE table_schema = 'offledger'
    UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'offledger'
    ORDER BY 1, 2, 3`);
  const versions = await sql.query("SELECT version, applied_at FROM offledger.migrations ORDER BY version");
  const state = await sql.query("SELECT * FROM offledger.state");
  return [...rows, ...versions.rows, ...state.rows];
}

const versions = async (): Promise<unknown[]> =>
  (await sql.query("SELECT version FROM offledger.migrations ORDER BY version")).rows;
const allVersions = Array.from({ length: latest }, (_, index) => ({ version: index + 1 }));

/** What a failing migration says. */
const failureOf = async (as?: string): Promise<unknown> => migrating(as).catch((error: unknown) => error);

/** The same database, for a new role that may do nothing but connect. */
async function asNobody(): Promise<string> {
  const [role, password] = [`nobody_${randomBytes(4).toString("hex")}`, randomBytes(8).toString("hex")];
  await sql.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  const admin = url;
  onTestFinished(async () => {
    const client = new Client({ connectionString: new URL("/postgres", admin).href });
    await client.connect();
    await client.query(`DROP ROLE ${role}`);
    await client.end();
  });
  return Object.assign(new URL(url), { username: role, password }).href;
}

describe("migrate", () => {
  test("brings a fresh database to the latest version, with a store that has no state", async () => {
    expect(latest).toBeGreaterThan(0);
    expect(await migrating()).toEqual({ from: 0, to: latest });
    expect(await versions()).toEqual(allVersions);
    const { rows } = await sql.query("SELECT generation, ledger_offset, epoch FROM offledger.state");
    expect(rows).toEqual([{ generation: "0", ledger_offset: "0", epoch: "0" }]);
  });

  test("changes nothing where it has run before", async () => {
    await migrating();
    const before = await everything();
    expect(await migrating()).toEqual({ from: latest, to: latest });
    expect(await everything()).toEqual(before);
  });

  test("is done by one of many who come at once; the others wait for it", async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => migrating()));
    expect(done.filter(({ from }) => from === 0)).toEqual([{ from: 0, to: latest }]);
    expect(done.filter(({ from }) => from !== 0)).toEqual(
      Array.from({ length: 7 }, () => ({ from: latest, to: latest })),
    );
    expect(await versions()).toEqual(allVersions);
  });

  test("goes on where the schema was made, and no migration was applied", async () => {
    await sql.query("CREATE SCHEMA offledger");
    expect(await migrating()).toEqual({ from: 0, to: latest });
    expect(await versions()).toEqual(allVersions);
  });

  test("leaves nothing behind where it fails", async () => {
    await sql.query("CREATE SCHEMA offledger; CREATE TABLE offledger.invalidations (in_the_way int)");
    expect(await failureOf()).toBeInstanceOf(DatabaseError);
    const { rows } = await sql.query("SELECT tablename FROM pg_tables WHERE schemaname = 'offledger'");
    expect(rows).toEqual([{ tablename: "invalidations" }]);
  });

  test("refuses a database of a newer program, and changes nothing", async () => {
    await migrating();
    await sql.query("INSERT INTO offledger.migrations (version) VALUES (999)");
    const before = await everything();
    const failure = await failureOf();
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({
      kind: "schema",
      message:
        `the database has schema version 999, and this program supports up to ${latest}: ` +
        "run the newer program, or use a new database",
    });
    expect(await everything()).toEqual(before);
  });
});

describe("a role without rights", () => {
  test("is told so where the schema has to be made", async () => {
    const failure = await failureOf(await asNobody());
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ kind: "denied" });
    const { rows } = await sql.query("SELECT FROM pg_namespace WHERE nspname = 'offledger'");
    expect(rows).toEqual([]);
  });

  test("is told so where the schema is somebody else's", async () => {
    await migrating();
    expect(await failureOf(await asNobody())).toMatchObject({ kind: "denied" });
  });
});
