/** Attacks on the service beside an honest caller. */
import { mkdirSync, writeFileSync } from "node:fs";
import { formatMachine, readMachine } from "../report/machine.js";
import type { AttackOptions } from "./options.js";
import { runScenario, type ScenarioResult } from "./run-scenario.js";
import { renderAttacks } from "./table.js";

const FOLDER = "bench/results/";

/** Runs the scenarios one after another, saves the results, and returns the table. */
export async function measureAttacks(options: AttackOptions): Promise<string> {
  const machine = readMachine();
  const results: ScenarioResult[] = [];
  for (const name of options.names) {
    try {
      const result = await runScenario(name, options);
      results.push(result);
      process.stderr.write(renderAttacks([result]));
      if (result.death !== undefined) process.stderr.write(`${name}: ${result.death}\n${result.logTail}\n`);
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}attacks.json`, `${JSON.stringify({ machine, options, results }, undefined, 2)}\n`);
  const limits = [...new Set(results.map(({ limit }) => limit))].join(", ");
  const conditions = `${options.seconds} s each, limit ${options.memoryMiB} MiB (${limits}), from ${options.from}`;
  return `${formatMachine(machine)}\n${conditions}, ${options.checkout}\n\n${renderAttacks(results)}`;
}
