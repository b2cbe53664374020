/**
 * npm run bench                          what is served, and how fast
 * npm run bench -- serving latency size  some parts of that
 * npm run bench -- ledger                the mirror
 *
 * Figures are for people; none fails a build. BENCH_QUICK=1 makes it short, see effort.ts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { LOAD_CORE, pinned } from "./processes/pinning.js";
import { benchLedger } from "./ledger/bench.js";
import { machine } from "./report/machine.js";
import type { Row } from "./report/row.js";
import { save } from "./report/save.js";
import { table } from "./report/table.js";
import { parts } from "./serving/parts.js";

const IS_PINNED = "BENCH_IS_PINNED";

const [bench = "serving", ...names] = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (bench === "ledger" && names.length === 0) {
  process.stdout.write(table(await benchLedger(), machine()));
} else if (bench !== "serving" || unknown.length > 0) {
  const known = Object.keys(parts).join(", ");
  process.stderr.write(`npm run bench -- [serving [PART…] | ledger], with PART one of ${known}\n`);
  process.exitCode = 2;
} else if (process.env[IS_PINNED] === undefined) {
  await again();
} else {
  await benchServing(names);
}

/** The same in a process that leaves the servers their core. */
async function again(): Promise<void> {
  const [command = process.execPath, ...args] = pinned(LOAD_CORE, [
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]);
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, [IS_PINNED]: "1" } });
  const end = () => child.kill();
  process.once("SIGTERM", end).once("SIGINT", end);
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
}

async function benchServing(chosen: readonly string[]): Promise<void> {
  const on = machine();
  const begun = performance.now();
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const at = performance.now();
    try {
      rows.push(...(await run()));
      process.stderr.write(`${name}: ${Math.round((performance.now() - at) / 1000)} s\n`);
    } catch (error) {
      // The others are worth having all the same.
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  const took = Math.round((performance.now() - begun) / 1000);
  const folder = save("serving", rows, on, took);
  process.stdout.write(`${table(rows, on)}\n${took} s in all; serving.json and serving.svg are in ${folder}\n`);
}
