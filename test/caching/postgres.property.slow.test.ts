/**
 * No stale answer from replicas of a database: requests go to either of two, of which each may be behind, the stream goes
 * on at the other, and writers and generations change. See memory.property.slow.test.ts.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { subjects } from "../rules/model/subjects.js";
import { onPostgres } from "./on-postgres.js";
import { Figures } from "./figures.js";
import { Run } from "./run-script.js";
import { databaseSteps, type Script, scripts } from "./steps.js";

const SCRIPTS = Number(process.env["OFFLEDGER_TEST_DATABASE_SCRIPTS"] ?? 20);
const MAX_STEPS = 150;

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    const figures = new Figures();
    await fc.assert(
      fc.asyncProperty(scripts(MAX_STEPS, databaseSteps), (script) => run(script, figures)),
      { endOnFailure: true, numRuns: SCRIPTS, seed: Number(process.env["OFFLEDGER_TEST_SEED"] ?? Date.now()) },
    );
    console.log(`${SCRIPTS} scripts: ${figures.toString()}`);
    // Otherwise the scripts would show nothing.
    expect(figures.checked).toBeGreaterThan(10 * SCRIPTS);
    expect(figures.dropped).toBeGreaterThan(0);
  },
  120_000 + SCRIPTS * 20_000,
);

async function run(script: Script, figures: Figures): Promise<void> {
  const subject = subjects[script.subject];
  if (subject === undefined) throw new Error(`no subject ${script.subject}`);
  const deployment = await onPostgres(schema, subject.registry, script.countsHoldings);
  const running = new Run(script, subject, deployment, figures);
  try {
    await running.through();
  } finally {
    running.close();
    await deployment.close();
  }
}
