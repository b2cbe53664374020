/** The load of the streams of changes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { formatMachine, readMachine } from "../report/machine.js";
import type { WatchOptions } from "./options.js";
import { runScenario, type WatchResult } from "./run-scenario.js";
import { renderWatch } from "./table.js";

const FOLDER = "bench/results/";

/** Runs the scenarios one after another, saves the results, and returns the table. */
export async function measureWatch(options: WatchOptions): Promise<string> {
  const machine = readMachine();
  const results: WatchResult[] = [];
  for (const name of options.names) {
    try {
      const result = await runScenario(name, options);
      results.push(result);
      process.stderr.write(renderWatch([result]));
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}watch.json`, `${JSON.stringify({ machine, options, results }, undefined, 2)}\n`);
  return `${formatMachine(machine)}\n\n${renderWatch(results)}`;
}
