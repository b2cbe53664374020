/** Brings the schema of a database to what this program was made for. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import type { ClientBase } from "pg";
import { type Database, endSession, inTransaction } from "./database.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** Any number that is ours alone; the lease has another. */
const LOCK = 7_220_411_001n;

/** What a migration did: the versions before and after, equal where there was nothing to do. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Applies the migrations that the database lacks, all or none. Whoever comes at
 * the same time waits. Throws DatabaseError, of trouble "schema" where the
 * database is of a newer program.
 */
export async function migrate(database: Database): Promise<Migrated> {
  const migrations = await readMigrations();
  // A migration of large tables takes its time, which connections of the pool are not given.
  const client = await database.session();
  try {
    return await inTransaction(client, (within) => bringUp(within, migrations));
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    await endSession(client);
  }
}

async function bringUp(client: ClientBase, migrations: readonly string[]): Promise<Migrated> {
  const to = migrations.length;
  await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const from = await versionOf(client);
  if (from > to) {
    throw new DatabaseError(
      "schema",
      `the database has version ${from} of the schema, and this program knows ${to}: ` +
        "run the newer program, or restore the database from before its upgrade",
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

async function versionOf(client: ClientBase): Promise<number> {
  const there = await client.query<{ found: boolean }>(
    "SELECT to_regclass('offledger.migrations') IS NOT NULL AS found",
  );
  if (there.rows[0]?.found !== true) return 0;
  const { rows } = await client.query<{ version: number }>(
    "SELECT coalesce(max(version), 0) AS version FROM offledger.migrations",
  );
  return rows[0]?.version ?? 0;
}

/** The texts of the migrations; their files are numbered without a gap, from 0001 on. */
async function readMigrations(): Promise<string[]> {
  const folder = dirname(createRequire(import.meta.url).resolve("#migrations/0001-contracts.sql"));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  for (const [index, file] of files.entries()) {
    if (Number.parseInt(file, 10) !== index + 1)
      throw new Error(`migration ${index + 1} is missing, or double: ${file}`);
  }
  return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
}
