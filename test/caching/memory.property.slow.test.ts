/**
 * No stale answer, ever. A client that is written from docs/caching.md alone answers from its cache whenever that page
 * allows it, over random scripts of what happens to ledger, service, stream and time. What it answers is at every moment
 * byte for byte what the service answers at the state of the latest event that the client has, or a later one.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { subjects } from "../rules/model/subjects.js";
import { inMemory } from "./deployment.js";
import { Figures } from "./figures.js";
import { Run } from "./run-script.js";
import { inMemorySteps, type Script, scripts } from "./steps.js";

const SCRIPTS = Number(process.env["OFFLEDGER_TEST_SCRIPTS"] ?? 300);
const MAX_STEPS = 120;

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    const figures = new Figures();
    await fc.assert(
      fc.asyncProperty(scripts(MAX_STEPS, inMemorySteps), (script) => run(script, figures)),
      { endOnFailure: true, numRuns: SCRIPTS, seed: Number(process.env["OFFLEDGER_TEST_SEED"] ?? Date.now()) },
    );
    console.log(`${SCRIPTS} scripts: ${figures.toString()}`);
    // Otherwise the scripts would show nothing.
    expect(figures.served).toBeGreaterThan(SCRIPTS);
    expect(figures.dropped).toBeGreaterThan(SCRIPTS);
    expect(figures.notModified).toBeGreaterThan(0);
  },
  60_000 + SCRIPTS * 500,
);

async function run(script: Script, figures: Figures): Promise<void> {
  const subject = subjects[script.subject];
  if (subject === undefined) throw new Error(`no subject ${script.subject}`);
  const deployment = inMemory(subject.registry, script.countsHoldings);
  const running = new Run(script, subject, deployment, figures);
  try {
    await running.through();
  } finally {
    running.close();
    await deployment.close();
  }
}
