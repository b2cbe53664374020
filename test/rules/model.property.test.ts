/**
 * Compares the registry with a plain model of the specification. On random ledgers with contracts of all five releases,
 * after random changes, every answer equals the model's, on every kind of store. The model (model/) shares no code with
 * src/registry.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/state/memory-store.js";
import { Replica } from "../../src/state/postgres/replica.js";
import { PostgresWriter } from "../../src/state/postgres/writer.js";
import { ForgetfulReader, half } from "../fixtures/forgetful-reader.js";
import { clock, freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { registrars } from "./model/contract-arbitraries.js";
import { script } from "./model/random-ledger.js";
import { runScript, type Subject, subjects } from "./model/run-script.js";
import { Outcomes, possibleOutcomes } from "./model/table.js";

/** Each run sends 24 to 40 requests to each reader of a store. */
const MEMORY_RUNS = 450;
const DATABASE_RUNS = 20;
/** The limit for every operation: see docs/decisions/synchronous-registry.md. */
const MAX_ROUND_TRIPS = 5;

test.each(Object.entries(subjects))(
  "in memory, and on stores that have forgotten all or a part: %s",
  async (_, subject) => {
    const outcomes = new Outcomes();
    await fc.assert(
      fc.asyncProperty(script, fc.integer({ min: 1 }), async (drawn, seed) => {
        const store = new MemoryStore();
        const { templates } = subject.registry;
        const cold = new ForgetfulReader(store, { templates, registrars });
        const forgetful = new ForgetfulReader(store, { templates, registrars, remembers: half(seed) });
        const readers = { memory: store, forgetful };
        const stores = { writer: store, readers, plain: { cold }, refresh: async () => undefined };
        await runScript(subject, drawn, stores, outcomes);
        expect(Math.max(...cold.trips, ...forgetful.trips)).toBeLessThanOrEqual(MAX_ROUND_TRIPS);
      }),
      { numRuns: MEMORY_RUNS },
    );
    // The scripts have reached every branch.
    expect(outcomes.toObject()).toEqual(possibleOutcomes(subject.settings));
  },
);

describe("on a database", () => {
  let schema: Schema;
  beforeAll(async () => {
    schema = await freshSchema();
  });
  afterAll(() => schema.drop());

  /** An empty database with two replicas, of which one has a cache. */
  async function emptyStore({ registry: { templates } }: Subject) {
    await schema.empty();
    const content = { contentId: "tests", origin: "tests" };
    const writer = await PostgresWriter.begin(schema.database, 0, content, (error) => {
      throw error;
    });
    const [uncached, cached] = [0, 10_000_000].map(
      (cacheBytes) => new Replica(schema.database, { templates, contentId: "tests", cacheBytes, clock }),
    ) as [Replica, Replica];
    return {
      writer,
      readers: { uncached, cached },
      refresh: () => Promise.all([uncached.refresh(), cached.refresh()]),
    };
  }

  test.each(Object.entries(subjects))("by replicas with a cache and without: %s", async (_, subject) => {
    await fc.assert(
      fc.asyncProperty(script, async (drawn) => {
        await runScript(subject, drawn, await emptyStore(subject), new Outcomes());
      }),
      // The test in memory shrinks a disagreement much faster.
      { numRuns: DATABASE_RUNS, endOnFailure: true },
    );
  });
});
