import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import type { ClientBase } from "pg";
import type { Database } from "./database.js";
import { endSession, inTransaction } from "./sessions.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** Key of the advisory lock; the lease has another. */
const MIGRATION_LOCK = 7_220_411_001n;

/** The schema versions before and after; equal if there was nothing to do. */
export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/**
 * A release runs on its own schema and on the next one, so that two releases can share a database while one replaces the
 * other: a migration only adds, and what is not used any more is dropped one release later.
 */
const NEWER_VERSIONS = 1;

/**
 * Applies missing migrations in one transaction. Throws DatabaseError, of kind "schema" if the database is newer than
 * this release supports.
 */
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

/** Throws DatabaseError, of kind "schema", unless this release can run on the schema; "unmigrated" if it is older. */
export async function checkSchema(database: Database): Promise<void> {
  const wanted = (await readMigrations()).length;
  const version = await database.transaction(readVersion);
  checkNotNewer(version, wanted);
  if (version < wanted) {
    throw new DatabaseError(
      "unmigrated",
      `the database has schema version ${version}, and this release needs ${wanted}: run \`offledger migrate\``,
    );
  }
}

function checkNotNewer(version: number, own: number): void {
  if (version <= own + NEWER_VERSIONS) return;
  throw new DatabaseError(
    "schema",
    `the database has schema version ${version}, and this release supports up to ${own + NEWER_VERSIONS}: ` +
      "run a newer release, or use a new database",
  );
}

async function applyMissing(client: ClientBase, migrations: readonly string[]): Promise<MigrationResult> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  const from = await readVersion(client);
  checkNotNewer(from, migrations.length);
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
  return { from, to: Math.max(from, migrations.length) };
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
  const folder = dirname(createRequire(import.meta.url).resolve("#migrations/0001-log.sql"));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  for (const [index, file] of files.entries()) {
    if (Number.parseInt(file, 10) !== index + 1) throw new Error(`expected migration ${index + 1}, found ${file}`);
  }
  return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
}
