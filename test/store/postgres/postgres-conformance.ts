import { afterAll, beforeAll } from "vitest";
import type { Template } from "../../../src/domain/template.js";
import { Replica } from "../../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/writer.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { type StoreUnderTest, storeConformance } from "../conformance.js";

/** Shared, because creating a schema takes far longer than a case. Each case starts with empty tables. */
let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** The reader refreshes before each read, as it does after a notification. */
async function makeStore(templates: readonly Template[], cacheBytes: number): Promise<StoreUnderTest> {
  const { database } = schema;
  const writer = await PostgresWriter.begin(database, 0, { contentId: "tests", origin: "tests" }, () => undefined);
  const replica = new Replica(database, { templates, contentId: "tests", cacheBytes, clock });
  return {
    writer,
    reader: {
      async read(use) {
        await replica.refresh();
        return replica.read(use);
      },
    },
    close: () => schema.empty(),
  };
}

/** Runs the conformance tests of stores on PostgreSQL, with a cache of some size. */
export function postgresConformance(name: string, cacheBytes: number): void {
  storeConformance(name, (templates) => makeStore(templates, cacheBytes));
}
