/**
 * npm run bench                          what is served, and how fast
 * npm run bench -- serving latency size  some parts of that
 * npm run bench -- ledger                the mirror
 * npm run bench -- postgres              what is served from a database, and how it gets there
 * npm run bench -- postgres 10k          with a registry of one size: 10k, 100k or 1m contracts
 *
 * Figures are for people; none fails a build. BENCH_QUICK=1 makes it short, see effort.ts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { LOAD_CORE, pinned } from "./processes/pinning.js";
import { benchLedger } from "./ledger/ingestion.js";
import { partNames, partsOn } from "./postgres/suite.js";
import { startPostgres } from "./postgres/server.js";
import { type Machine, machine } from "./report/machine.js";
import type { Row } from "./report/row.js";
import { save } from "./report/save.js";
import { table } from "./report/table.js";
import { parts } from "./serving/suite.js";

const IS_PINNED = "BENCH_IS_PINNED";

/** The parts of each benchmark that has some. */
const known: Readonly<Record<string, readonly string[]>> = { serving: Object.keys(parts), postgres: partNames };

const [bench = "serving", ...names] = process.argv.slice(2);
if (bench === "ledger" && names.length === 0) {
  process.stdout.write(table(await benchLedger(), machine()));
} else if (!Object.hasOwn(known, bench) || names.some((name) => known[bench]?.includes(name) !== true)) {
  const forms = Object.entries(known).map(([name, of]) => `${name} [${of.join("|")}…]`);
  process.stderr.write(`npm run bench -- [${forms.join(" | ")} | ledger]\n`);
  process.exitCode = 2;
} else if (process.env[IS_PINNED] === undefined) {
  await again();
} else if (bench === "serving") {
  await measure(bench, parts, names, machine());
} else {
  const server = await startPostgres();
  try {
    await measure(bench, partsOn(server), names, { ...machine(), database: server.described });
  } finally {
    await server.stop();
  }
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

async function measure(
  name: string,
  all: Readonly<Record<string, () => Promise<Row[]>>>,
  chosen: readonly string[],
  on: Machine,
): Promise<void> {
  const begun = performance.now();
  const rows: Row[] = [];
  for (const [part, run] of Object.entries(all)) {
    if (chosen.length > 0 && !chosen.includes(part)) continue;
    const at = performance.now();
    try {
      rows.push(...(await run()));
      process.stderr.write(`${part}: ${Math.round((performance.now() - at) / 1000)} s\n`);
    } catch (error) {
      // The others are worth having all the same.
      process.stderr.write(`${part}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  const took = Math.round((performance.now() - begun) / 1000);
  const folder = save(name, rows, on, took);
  process.stdout.write(`${table(rows, on)}\n${took} s in all; ${name}.json and ${name}.svg are in ${folder}\n`);
}
