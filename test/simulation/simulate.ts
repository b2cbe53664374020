/** Runs many seeds: `npm run simulate`. OFFLEDGER_TEST_SEEDS says how many, OFFLEDGER_TEST_SEED the first. */
import { describeFailure, runAll } from "./run.js";

const SEEDS = Number(process.env["OFFLEDGER_TEST_SEEDS"] ?? 10_000);
const FIRST = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 1);
const STEP = 100;
/** Enough to look at. */
const MAX_FAILURES = 20;

const begun = performance.now();
const sums: Record<string, number> = {};
let failures = 0;
for (let first = FIRST; first < FIRST + SEEDS && failures < MAX_FAILURES; first += STEP) {
  const { failed, counts } = await runAll(first, Math.min(STEP, FIRST + SEEDS - first));
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  failures += failed.length;
  for (const failure of failed) console.error(describeFailure(failure));
}
const seconds = Math.round((performance.now() - begun) / 1000);
console.log(`${SEEDS} seeds from ${FIRST} in ${seconds} s: ${JSON.stringify(sums)}, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
