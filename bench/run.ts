/**
 * npm run bench                          serving: CPU, and throughput and memory at sizes
 * npm run bench -- serving protocols     some parts of it
 * npm run bench -- ledger                ingestion from a participant
 * npm run bench -- postgres              serving from PostgreSQL, and ingestion into it
 * npm run bench -- postgres 10k          one registry size: 10k, 100k or 1m contracts
 * npm run bench -- ab ../other-checkout  CPU of this build next to that of another checkout
 *
 * Figures are for people; none fails a build. BENCH_QUICK=1 shortens a run, see scale.ts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { compareBuilds } from "./ab/ab.js";
import { measureIngestion } from "./ledger/ingestion.js";
import { startPostgres } from "./postgres/server.js";
import { createSuite, sizeNames } from "./postgres/suite.js";
import { LOAD_CORE, pinned } from "./processes/pinning.js";
import { readMachine, type Machine } from "./report/machine.js";
import type { Row } from "./report/row.js";
import { saveResults } from "./report/save.js";
import { renderTable } from "./report/table.js";
import { suite } from "./serving/suite.js";

const IS_PINNED = "BENCH_IS_PINNED";

const partsOf: Readonly<Record<string, readonly string[]>> = { serving: Object.keys(suite), postgres: sizeNames };

const [bench = "serving", ...args] = process.argv.slice(2);
if (bench === "ledger" && args.length === 0) {
  process.stdout.write(renderTable(await measureIngestion(), readMachine()));
} else if (!isValid()) {
  const forms = Object.entries(partsOf).map(([name, parts]) => `${name} [${parts.join("|")}…]`);
  process.stderr.write(`npm run bench -- [${forms.join(" | ")} | ledger | ab PATH]\n`);
  process.exitCode = 2;
} else if (process.env[IS_PINNED] === undefined) {
  await rerunPinned();
} else if (bench === "ab") {
  process.stdout.write(renderTable(await compareBuilds(args[0] ?? ""), readMachine()));
} else if (bench === "serving") {
  await measure(bench, suite, args, readMachine());
} else {
  const server = await startPostgres();
  try {
    await measure(bench, createSuite(server), args, { ...readMachine(), database: server.description });
  } finally {
    await server.stop();
  }
}

function isValid(): boolean {
  if (bench === "ab") return args.length === 1;
  return Object.hasOwn(partsOf, bench) && args.every((name) => partsOf[bench]?.includes(name) === true);
}

/** Runs this command again on the core of the load. */
async function rerunPinned(): Promise<void> {
  const [command = process.execPath, ...commandArgs] = pinned(LOAD_CORE, [
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]);
  const child = spawn(command, commandArgs, { stdio: "inherit", env: { ...process.env, [IS_PINNED]: "1" } });
  const stop = () => child.kill();
  process.once("SIGTERM", stop).once("SIGINT", stop);
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
}

function secondsSince(time: number): number {
  return Math.round((performance.now() - time) / 1000);
}

async function measure(
  name: string,
  parts: Readonly<Record<string, () => Promise<Row[]>>>,
  chosen: readonly string[],
  machine: Machine,
): Promise<void> {
  const startedAt = performance.now();
  const rows: Row[] = [];
  for (const [part, run] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(part)) continue;
    const partStartedAt = performance.now();
    try {
      rows.push(...(await run()));
      process.stderr.write(`${part}: ${secondsSince(partStartedAt)} s\n`);
    } catch (error) {
      process.stderr.write(`${part}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  const duration = secondsSince(startedAt);
  const folder = saveResults(name, rows, machine, duration);
  process.stdout.write(
    `${renderTable(rows, machine)}\n${duration} s in total; ${name}.json and ${name}.svg are in ${folder}\n`,
  );
}
