/** The store in PostgreSQL keeps the promises of every store. */
import type { Kind } from "../../src/store/store.js";
import { Database } from "../../src/store/postgres/database.js";
import { migrate } from "../../src/store/postgres/migrate.js";
import { Replica } from "../../src/store/postgres/reading/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writing/writer.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { type Made, storePromises } from "./conformance.js";

const clock = () => performance.now();

/** A store of its own, whose reader looks where the store stands before each reading, as it does when it is told. */
async function makeStore(kinds: readonly Kind[], cacheBytes: number): Promise<Made> {
  const fresh = await freshDatabase();
  const database = new Database(fresh.url, 4);
  await migrate(database);
  const writer = await PostgresWriter.begin(database, 0, { contents: "tests", origin: "a test" }, () => undefined);
  const replica = new Replica(database, { kinds, contents: "tests", cacheBytes, clock });
  return {
    writer,
    reader: {
      async read(use) {
        await replica.refresh();
        return replica.read(use);
      },
    },
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

storePromises("PostgreSQL", (kinds) => makeStore(kinds, 10_000_000));
storePromises("PostgreSQL, with nothing kept", (kinds) => makeStore(kinds, 0));
