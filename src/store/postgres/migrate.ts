import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import type { ClientBase } from "pg";
import { type Database, endSession, inTransaction } from "./database.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** Key of the advisory lock; the lease has another. */
const MIGRATION_LOCK = 7_220_411_001n;

/** The schema versions before and after; equal if there was nothing to do. */
export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/** Applies missing migrations in one transaction. Throws DatabaseError, of kind "schema" if the database is newer. */
export async function migrate(database: Database): Promise<MigrationResult> {
  const migrations = await readMigrations();
  // The statement timeout of the pool is too short for a migration of large tables.
  const session = await database.openSession();
  try {
    return await inTransaction(session, (client) => applyMissing(client, migrations));
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    await endSession(session);
  }
}

async function applyMissing(client: ClientBase, migrations: readonly string[]): Promise<MigrationResult> {
  const to = migrations.length;
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  const from = await readVersion(client);
  if (from > to) {
    throw new DatabaseError(
      "schema",
      `the database has schema version ${from}, and this program supports up to ${to}: ` +
        "run the newer program, or use a new database",
    );
  }
  if (from === 0) {
    await client.query("CREATE SCHEMA IF NOT EXISTS offledger");
    await client.query(
      "CREATE TABLE IF NOT EXISTS offledger.migrations " +
        "(version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < from) continue;
    await client.query(sql);
    await client.query("INSERT INTO offledger.migrations (version) VALUES ($1)", [index + 1]);
  }
  return { from, to };
}

async function readVersion(client: ClientBase): Promise<number> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "SELECT to_regclass('offledger.migrations') IS NOT NULL AS exists",
  );
  if (tables[0]?.exists !== true) return 0;
  const { rows } = await client.query<{ version: number }>(
    "SELECT coalesce(max(version), 0) AS version FROM offledger.migrations",
  );
  return rows[0]?.version ?? 0;
}

/** The SQL of each migration. Files are numbered from 0001 without a gap. */
async function readMigrations(): Promise<string[]> {
  const folder = dirname(createRequire(import.meta.url).resolve("#migrations/0001-contracts.sql"));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  for (const [index, file] of files.entries()) {
    if (Number.parseInt(file, 10) !== index + 1) throw new Error(`expected migration ${index + 1}, found ${file}`);
  }
  return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
}
