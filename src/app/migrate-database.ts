import { Database } from "../store/postgres/database.js";
import { migrate, type MigrationResult } from "../store/postgres/migrate.js";

/** Migrates the schema of a database to the version of this program. Throws DatabaseError. */
export async function migrateDatabase(url: URL): Promise<MigrationResult> {
  const database = new Database(url.href, 1);
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}
