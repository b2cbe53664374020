/**
 * No stale answer, ever. A client that is written from docs/caching.md alone answers from its cache whenever that page
 * allows it, over random scripts of what happens to ledger, service, stream and time. What it answers is at every moment
 * byte for byte what the service answers at the state of the latest event that the client has, or a later one.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import type { Subject } from "../rules/model/run-script.js";
import { subjects } from "../rules/model/run-script.js";
import { type Deployment, inMemory, onPostgres } from "./deployment.js";
import { type Figures, Run } from "./run-script.js";
import { databaseSteps, inMemorySteps, type Script, scripts } from "./steps.js";

type Deploy = (subject: Subject, script: Script) => Deployment | Promise<Deployment>;

/** Runs so many random scripts. */
async function runScripts(count: number, steps: fc.Arbitrary<Script>, deploy: Deploy): Promise<Figures> {
  const figures = { served: 0, checked: 0, dropped: 0, notModified: 0 };
  const property = fc.asyncProperty(steps, async (script) => {
    const subject = subjects[script.subject];
    if (subject === undefined) throw new Error(`no subject ${script.subject}`);
    const deployment = await deploy(subject, script);
    const running = new Run(script, subject, deployment, figures);
    try {
      await running.through();
    } finally {
      running.close();
      await deployment.close();
    }
  });
  const seed = Number(process.env["OFFLEDGER_TEST_SEED"] ?? Date.now());
  await fc.assert(property, { endOnFailure: true, numRuns: count, seed });
  console.log(`${count} scripts: ${JSON.stringify(figures)}`);
  return figures;
}

describe("of a service with its store in memory", () => {
  const count = Number(process.env["OFFLEDGER_TEST_SCRIPTS"] ?? 300);

  test(
    `over ${count} scripts`,
    async () => {
      const figures = await runScripts(count, scripts(120, inMemorySteps), ({ registry }, { countsHoldings }) =>
        inMemory(registry, countsHoldings),
      );
      // Otherwise the scripts would show nothing.
      expect(figures.served).toBeGreaterThan(count);
      expect(figures.dropped).toBeGreaterThan(count);
      expect(figures.notModified).toBeGreaterThan(0);
    },
    60_000 + count * 500,
  );
});

/** Requests go to either of two, of which each may be behind; the stream goes on at the other; writers change. */
describe("of replicas of a database", () => {
  const count = Number(process.env["OFFLEDGER_TEST_DATABASE_SCRIPTS"] ?? 20);
  let schema: Schema;
  beforeAll(async () => {
    schema = await freshSchema();
  });
  afterAll(() => schema.drop());

  test(
    `over ${count} scripts`,
    async () => {
      const figures = await runScripts(count, scripts(150, databaseSteps), ({ registry }, { countsHoldings }) =>
        onPostgres(schema, registry, countsHoldings),
      );
      expect(figures.checked).toBeGreaterThan(10 * count);
      expect(figures.dropped).toBeGreaterThan(0);
    },
    120_000 + count * 20_000,
  );
});
