import { afterAll, beforeAll } from "vitest";
import { Replica } from "../../../src/state/postgres/replica.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { storeConformance } from "../conformance/conformance.js";

/** Shared, because creating a schema takes far longer than a case. Each case starts with empty tables. */
let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** The reader refreshes before each read, as it does after a notification. */
storeConformance("PostgreSQL", async (templates) => {
  const { database } = schema;
  const writer = await PostgresWriter.begin(database, 0, { contentId: "tests", origin: "tests" }, () => undefined);
  const replica = new Replica(database, { templates, contentId: "tests", cacheBytes: 10_000_000, clock });
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
});
