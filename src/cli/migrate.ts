import type { Config } from "../config/config.js";
import { Database } from "../state/postgres/database.js";
import { DatabaseError } from "../state/postgres/errors.js";
import { migrate as migrateSchema, type MigrationResult } from "../state/postgres/migrate.js";
import { errorMessage } from "../util/logger.js";
import { EXIT_CONFIG, EXIT_FAILURE, fail, print } from "./output.js";

/** Migrates the schema of the database and prints its version. */
export async function migrate({ databaseUrl, databasePasswordFile }: Config): Promise<void> {
  // readConfig requires it for this command.
  if (databaseUrl === undefined) return;
  try {
    const { from, to } = await migrateDatabase(databaseUrl.secret, databasePasswordFile);
    print(from === to ? `schema is up to date (version ${to})\n` : `schema migrated from version ${from} to ${to}\n`);
  } catch (error) {
    const isUnavailable = error instanceof DatabaseError && error.kind === "unavailable";
    const exitCode = isUnavailable ? EXIT_FAILURE : EXIT_CONFIG;
    fail({ message: `OFFLEDGER_DATABASE_URL: ${errorMessage(error)}`, exitCode });
  }
}

/** Migrates the schema of a database to the version of this program. Throws DatabaseError. */
export async function migrateDatabase(url: string, passwordFile?: string): Promise<MigrationResult> {
  const database = new Database({ url, passwordFile, maxConnections: 1 });
  try {
    return await migrateSchema(database);
  } finally {
    await database.close();
  }
}
