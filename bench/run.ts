/**
 * npm run bench                         all suites: serving, scale, mirror, postgres, follower
 * npm run bench -- serving mirror       some of them
 * npm run bench -- million              a registry of a million contracts: 5 GB of memory, 3 GB of disk, minutes
 * npm run bench -- ab ../other-checkout serving, next to the build of another checkout
 *
 * Figures are for people; none fails a build.
 */
import type { Effort } from "./load.js";
import { measureFollower } from "./follower.js";
import { measureMirror } from "./mirror.js";
import { measurePostgres } from "./postgres.js";
import { measureScale } from "./scale.js";
import { measureServing } from "./serving.js";
import { describeMachine, renderTable, type Row } from "./table.js";

const EFFORT: Effort = { rounds: 5, seconds: 0.4, warmUp: 20_000 };

const suites: Readonly<Record<string, () => Promise<Row[]>>> = {
  serving: () => measureServing(EFFORT),
  scale: () => measureScale(EFFORT, 100_000),
  mirror: measureMirror,
  postgres: measurePostgres,
  follower: () => measureFollower(100_000),
};

const million = async () => [...(await measureScale(EFFORT, 1_000_000)), ...(await measureFollower(1_000_000))];

const args = process.argv.slice(2);
const [first, checkout] = args;
if (first === "ab" && args.length === 2 && checkout !== undefined) {
  await run({ ab: () => measureServing(EFFORT, checkout) });
} else if (first === "million" && args.length === 1) {
  await run({ million });
} else if (args.every((name) => Object.hasOwn(suites, name))) {
  await run(Object.fromEntries(Object.entries(suites).filter(([name]) => args.length === 0 || args.includes(name))));
} else {
  process.stderr.write(`npm run bench -- [${Object.keys(suites).join("] [")}] | million | ab CHECKOUT\n`);
  process.exitCode = 2;
}

async function run(chosen: typeof suites): Promise<void> {
  const results = new Map<string, readonly Row[]>();
  const startedAt = performance.now();
  for (const [name, measure] of Object.entries(chosen)) {
    process.stderr.write(`${name}…\n`);
    try {
      results.set(name, await measure());
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${describeMachine()}, ${seconds} s\n\n${renderTable(results)}`);
}
