/** A few random ledgers, always the same, compared with the model of the specification: model.property.test.ts has the rest. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryStore } from "../../src/state/memory-store.js";
import { script } from "./model/random-ledger.js";
import { runScript, subjects } from "./model/run-script.js";
import { Outcomes } from "./model/table.js";

test.each(Object.entries(subjects))("%s", async (_, subject) => {
  const outcomes = new Outcomes();
  await fc.assert(
    fc.asyncProperty(script, async (drawn) => {
      const store = new MemoryStore();
      await runScript(subject, drawn, { writer: store, readers: { store }, refresh: async () => undefined }, outcomes);
    }),
    { numRuns: 15, seed: 49 },
  );
  expect(outcomes.toObject()).toMatchObject({ "transfer-factory": ["400", "404", "409", "direct", "offer", "self"] });
});
