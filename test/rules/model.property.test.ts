/**
 * Compares the registry with a plain model of the specification. On random ledgers with contracts of all five releases,
 * after random changes, every answer equals the model's, in memory and through a database. The model (model/) shares no code with
 * src/registry.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/state/memory-store.js";
import { PostgresWriter } from "../../src/state/postgres/writer.js";
import { followerOf } from "../fixtures/follower.js";
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { script } from "./model/random-ledger.js";
import { runScript, type Subject, subjects } from "./model/run-script.js";
import { Outcomes, possibleOutcomes } from "./model/table.js";

/** Each run sends 24 to 40 requests to each reader of a store. */
const MEMORY_RUNS = 450;
const DATABASE_RUNS = 20;

test.each(Object.entries(subjects))("in memory: %s", async (_, subject) => {
  const outcomes = new Outcomes();
  await fc.assert(
    fc.asyncProperty(script, async (drawn) => {
      const store = new MemoryStore();
      const stores = { writer: store, readers: { memory: store }, refresh: async () => undefined };
      await runScript(subject, drawn, stores, outcomes);
    }),
    { numRuns: MEMORY_RUNS },
  );
  // The scripts have reached every branch.
  expect(outcomes.toObject()).toEqual(possibleOutcomes(subject.settings));
});

describe("on a database", () => {
  let schema: Schema;
  beforeAll(async () => {
    schema = await freshSchema();
  });
  afterAll(() => schema.drop());

  /** An empty database. */
  async function emptyStore({ registry: { templates } }: Subject) {
    await schema.empty();
    const content = { contentId: "tests", origin: "tests" };
    const writer = await PostgresWriter.begin(schema.database, 0, content, (error) => {
      throw error;
    });
    const follower = followerOf(schema.database, { templates });
    return { writer, readers: { follower }, refresh: follower.refresh };
  }

  test.each(Object.entries(subjects))("by a follower: %s", async (_, subject) => {
    await fc.assert(
      fc.asyncProperty(script, async (drawn) => {
        await runScript(subject, drawn, await emptyStore(subject), new Outcomes());
      }),
      // The test in memory shrinks a disagreement much faster.
      { numRuns: DATABASE_RUNS, endOnFailure: true },
    );
  });
});
