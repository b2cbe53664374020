import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { Client } from "pg";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/state/postgres/database.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import { checkSchema, type MigrationResult, migrate } from "../../../src/state/postgres/migrate.js";
import { readValid } from "../../config/read.js";
import { temporaryFolder } from "../../fixtures/files.js";
import { freshDatabase } from "../../fixtures/postgres.js";

/** Each migration is one file. */
const latest = (await readdir(new URL("../../../src/state/postgres/migrations/", import.meta.url))).length;

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

/** Migrates over connections of its own. */
async function runMigrations(as = url): Promise<MigrationResult> {
  const database = new Database({ url: as, maxConnections: 1 });
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}

/** Why this release cannot run on the schema. */
async function checked(): Promise<unknown> {
  const database = new Database({ url, maxConnections: 1 });
  try {
    return await checkSchema(database).catch((error: unknown) => error);
  } finally {
    await database.close();
  }
}

/** Every column and index of the schema, the applied versions and the state. */
async function describeSchema(): Promise<unknown[]> {
  const { rows } = await sql.query(`
    SELECT table_name::text AS name, column_name::text AS part, data_type::text AS is
    FROM information_schema.columns WHERE table_schema = 'offledger'
    UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'offledger'
    ORDER BY 1, 2, 3`);
  const versions = await sql.query("SELECT version, applied_at FROM offledger.migrations ORDER BY version");
  const state = await sql.query("SELECT * FROM offledger.state");
  return [...rows, ...versions.rows, ...state.rows];
}

/** A folder with a Unix socket of the server, as libpq names it. */
async function socketFolder(port: string): Promise<string> {
  const { hostname, port: to } = new URL(url);
  const directory = await temporaryFolder();
  const server = net.createServer((client) => {
    const connection = net.connect(Number(to), hostname);
    pipeline(client, connection, client, () => undefined);
  });
  server.listen(join(directory, `.s.PGSQL.${port}`));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return directory;
}

test("a database is reached by a Unix socket, whose directory is in the query or in place of the host", async () => {
  const { username, password, pathname } = new URL(url);
  const [directory, other] = [await socketFolder("5432"), await socketFolder("6432")];
  const encoded = encodeURIComponent(directory);
  for (const as of [
    `postgresql://${username}:${password}@${pathname}?host=${directory}`,
    `postgresql://${pathname}?host=${directory}&user=${username}&password=${password}`,
    `postgresql://${username}@${pathname}?host=${other}&port=6432&password=${password}`,
    `postgresql://${username}:${password}@${encoded}${pathname}`,
  ]) {
    expect(readValid(["--database-url", as]).databaseUrl).toMatchObject({ secret: as });
    expect((await runMigrations(as)).to).toBe(latest);
  }
});

const versions = async (): Promise<unknown[]> =>
  (await sql.query("SELECT version FROM offledger.migrations ORDER BY version")).rows;

/** The error of a migration. */
const failureOf = async (as?: string): Promise<unknown> => runMigrations(as).catch((error: unknown) => error);

describe("migrate", () => {
  test("creates an empty state, once for many concurrent processes; the others wait", async () => {
    expect(latest).toBeGreaterThan(0);
    const done = await Promise.all(Array.from({ length: 8 }, () => runMigrations()));
    const [first, ...others] = done.toSorted((a, b) => a.from - b.from);
    expect(first).toEqual({ from: 0, to: latest });
    expect(others).toEqual(Array.from({ length: 7 }, () => ({ from: latest, to: latest })));
    expect(await versions()).toEqual(Array.from({ length: latest }, (_, index) => ({ version: index + 1 })));
    expect((await sql.query("SELECT FROM offledger.state")).rows).toEqual([]);
  });

  test("works with an empty schema, and changes nothing the second time", async () => {
    await sql.query("CREATE SCHEMA offledger");
    expect(await runMigrations()).toEqual({ from: 0, to: latest });
    const before = await describeSchema();
    expect(await runMigrations()).toEqual({ from: latest, to: latest });
    expect(await describeSchema()).toEqual(before);
  });

  test("runs on the schema of the next release, and not on one that is older", async () => {
    expect(await checked()).toMatchObject({ kind: "unmigrated" });
    await runMigrations();
    expect(await checked()).toBeUndefined();
    await sql.query("INSERT INTO offledger.migrations (version) VALUES ($1)", [latest + 1]);
    expect(await runMigrations()).toEqual({ from: latest + 1, to: latest + 1 });
    expect(await checked()).toBeUndefined();
  });

  test("leaves nothing if it fails", async () => {
    await sql.query("CREATE SCHEMA offledger; CREATE TABLE offledger.packages (in_the_way int)");
    expect(await failureOf()).toBeInstanceOf(DatabaseError);
    const { rows } = await sql.query("SELECT tablename FROM pg_tables WHERE schemaname = 'offledger'");
    expect(rows).toEqual([{ tablename: "packages" }]);
  });

  test("rejects a database of a newer program and changes nothing", async () => {
    await runMigrations();
    await sql.query("INSERT INTO offledger.migrations (version) VALUES (999)");
    const before = await describeSchema();
    expect(await failureOf()).toMatchObject({
      name: "DatabaseError",
      kind: "schema",
      message:
        `the database has schema version 999, and this release supports up to ${latest + 1}: ` +
        "run a newer release, or use a new database",
    });
    expect(await describeSchema()).toEqual(before);
  });
});

test("a role without rights is denied, before there is a schema and after", async () => {
  const [role, password] = [`nobody_${randomBytes(4).toString("hex")}`, randomBytes(8).toString("hex")];
  await sql.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  const admin = new Client({ connectionString: new URL("/postgres", url).href });
  await admin.connect();
  onTestFinished(async () => {
    await admin.query(`DROP ROLE ${role}`);
    await admin.end();
  });
  const as = Object.assign(new URL(url), { username: role, password }).href;
  expect(await failureOf(as)).toMatchObject({ name: "DatabaseError", kind: "denied" });
  expect((await sql.query("SELECT FROM pg_namespace WHERE nspname = 'offledger'")).rows).toEqual([]);
  await runMigrations();
  expect(await failureOf(as)).toMatchObject({ kind: "denied" });
});
