/**
 * Builds the clients of other languages and runs them against the built service:
 *
 *   npm run test:clients [-- [--write] [--check] [--expect-details] [client …]]
 *
 * A client whose toolchain this machine lacks is skipped. `--write` writes the results to docs/clients.md; `--check`
 * only compares the clients listed there with those in clients/. `--expect-details` asks clients to check the details
 * of errors. Ends with 1 if a check failed.
 */
import { parseArgs } from "node:util";
import { findClients, missingCommands } from "./folders.js";
import { buildClient, type Check, runStack } from "./run-client.js";
import { startServices } from "./services.js";
import { type Result, tableErrors, tableOf, writeTable } from "./table.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, check: { type: "boolean" }, "expect-details": { type: "boolean" } },
});

const all = findClients();
const unknown = positionals.filter((name) => all.every((client) => client.name !== name));
if (unknown.length > 0) {
  throw new Error(`clients must be of ${all.map(({ name }) => name).join(", ")}, but are ${unknown.join(", ")}`);
}
const results: Result[] = [];
if (values.check !== true) await runAll();
if (values.write === true) writeTable(results);
for (const error of tableErrors(all)) fail(error);

async function runAll(): Promise<void> {
  for (const client of all.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    const missing = missingCommands(client);
    if (missing.length > 0) {
      print(`${client.name}: skipped, because this machine has no ${missing.join(", ")}`);
      continue;
    }
    print(`${client.name}: building`);
    try {
      await buildClient(client);
    } catch (error) {
      fail(String(error));
      continue;
    }
    for (const stack of client.stacks) {
      print(`${client.name}: ${stack.name} ${stack.version}`);
      // New services for each: one of them starts without contracts.
      const services = await startServices();
      const details = values["expect-details"] === true ? { OFFLEDGER_EXPECT_DETAILS: "1" } : {};
      try {
        const checks = await runStack(client, stack, { ...services.environment, ...details }, report);
        results.push({ client, stack, checks });
      } finally {
        await services.stop();
      }
    }
  }
  print(`\n${tableOf(results)}`);
}

function report({ check, ok, detail }: Check): void {
  const line = `  ${ok ? "ok    " : "FAILED"} ${check}: ${detail}`;
  if (ok) print(line);
  else fail(line);
}

function fail(line: string): void {
  process.exitCode = 1;
  print(line);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
