import { migrateDatabase } from "../app/migrate-database.js";
import type { Config } from "../config/config.js";
import { DatabaseError } from "../store/postgres/errors.js";
import { EXIT_CONFIG, EXIT_FAILURE, fail, messageOf } from "./failure.js";
import { print } from "./output.js";

/** Migrates the schema of the database and prints its version. */
export async function migrate({ databaseUrl }: Config): Promise<void> {
  // readConfig requires it for this command.
  if (databaseUrl === undefined) return;
  try {
    const { from, to } = await migrateDatabase(databaseUrl);
    print(from === to ? `schema is up to date (version ${to})\n` : `schema migrated from version ${from} to ${to}\n`);
  } catch (error) {
    const isUnavailable = error instanceof DatabaseError && error.kind === "unavailable";
    const exitCode = isUnavailable ? EXIT_FAILURE : EXIT_CONFIG;
    fail({ message: `OFFLEDGER_DATABASE_URL: ${messageOf(error)}`, exitCode });
  }
}
