/**
 * Compares the registry with a plain model of the specification (model/, which shares no code with src/registry). On
 * random ledgers with contracts of all five releases, after random changes, every answer equals the model's.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { Replica } from "../../src/store/postgres/read/replica.js";
import { PostgresWriter } from "../../src/store/postgres/write/postgres-writer.js";
import { FetchingReader } from "../fixtures/fetching-reader.js";
import { clock, freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { NOW } from "./model/names.js";
import type { Operation } from "./model/requests.js";
import { type Outcomes, runScript, type Subject } from "./model/run-script.js";
import { script } from "./model/scripts.js";

/** At least the worst case that has to be supported, and small enough to be exceeded. */
const limits = { legs: 60, allocations: 50, instruments: 25, accounts: 60, parties: 100 };

const byDefault: Subject = {
  registry: utilityRegistry({ settlementLimits: limits }),
  settings: { now: NOW, limits, credentialsRequired: false, rewards: false },
};

const everyStatus = ["200", "400", "404", "409"];
const exit = ["200", "404", "409"];
const list = ["200", "404"];

/** The outcomes that each operation can have. */
const possible: Readonly<Record<Operation, readonly string[]>> = {
  "transfer-factory": ["self", "direct", "offer", "400", "404", "409"],
  "allocation-factory": everyStatus,
  "settlement-factory": everyStatus,
  "mint-offer/create": everyStatus,
  "mint-request/create": everyStatus,
  "burn-offer/create": everyStatus,
  "burn-request/create": everyStatus,
  "burn-mint-factory": everyStatus,
  "transfer-instruction/accept": everyStatus,
  "transfer-instruction/reject": exit,
  "transfer-instruction/withdraw": exit,
  "allocation/execute-transfer": everyStatus,
  "allocation/withdraw": exit,
  "allocation/cancel": exit,
  "mint-offer/accept": everyStatus,
  "mint-offer/reject": exit,
  "mint-offer/cancel": exit,
  "mint-request/accept": everyStatus,
  "mint-request/reject": exit,
  "mint-request/cancel": exit,
  "burn-offer/accept": everyStatus,
  "burn-offer/reject": exit,
  "burn-offer/cancel": exit,
  "burn-request/accept": everyStatus,
  "burn-request/reject": exit,
  "burn-request/cancel": exit,
  "allocation-instruction/accept": ["400", "404"],
  "allocation-instruction/withdraw": ["400", "404"],
  "instrument-configuration": exit,
  instruments: list,
  "instrument-configurations": ["200"],
  operator: list,
};

/** Every operation has ended in each of its outcomes, and in no other. */
function expectAllOutcomes(outcomes: Outcomes): void {
  const seen = Object.keys(possible).map((operation) => [
    operation,
    [...(outcomes.get(operation as Operation)?.keys() ?? [])].toSorted(),
  ]);
  expect(Object.fromEntries(seen)).toEqual(
    Object.fromEntries(Object.entries(possible).map(([operation, all]) => [operation, all.toSorted()])),
  );
}

test("in memory, and on a store that fetches", async () => {
  const outcomes: Outcomes = new Map();
  await fc.assert(
    fc.asyncProperty(script, async (drawn) => {
      const store = new MemoryStore();
      const readers = { memory: store, fetching: new FetchingReader(store) };
      await runScript(byDefault, drawn, { writer: store, readers, refresh: async () => undefined }, outcomes);
    }),
    { numRuns: 600 },
  );
  expectAllOutcomes(outcomes);
});

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

test("on a database, by replicas with a cache and without", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (drawn) => {
      await schema.empty();
      const content = { contentId: "tests", origin: "tests" };
      const writer = await PostgresWriter.begin(schema.database, 0, content, (error) => {
        throw error;
      });
      const replicaOf = (cacheBytes: number): Replica =>
        new Replica(schema.database, {
          templates: byDefault.registry.templates,
          contentId: "tests",
          cacheBytes,
          clock,
        });
      const readers = { "no cache": replicaOf(0), cache: replicaOf(10_000_000) };
      const refresh = () => Promise.all(Object.values(readers).map((replica) => replica.refresh()));
      await runScript(byDefault, drawn, { writer, readers, refresh }, new Map());
    }),
    { numRuns: 40 },
  );
});
