/**
 * npm run soak: load, ledger changes and faults together for OFFLEDGER_SOAK_MINUTES (15). OFFLEDGER_SOAK_SEED repeats a run.
 * Exits with 1 after a failure.
 */
import { findFailures, renderReport } from "./report.js";
import { soak } from "./soak.js";

function readNumber(name: string, defaultValue: number, min: number): number {
  const value = Number(process.env[`OFFLEDGER_SOAK_${name}`] ?? defaultValue);
  if (Number.isSafeInteger(value) && value >= min) return value;
  process.stderr.write(`OFFLEDGER_SOAK_${name} must be a whole number, at least ${min}\n`);
  process.exit(2);
}

const minutes = readNumber("MINUTES", 15, 1);
const seed = readNumber("SEED", Date.now() % 1_000_000, 0);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // A second signal has its default effect.
  process.once(signal, () => stop.abort());
}
const print = (line: string) => void process.stdout.write(`${line}\n`);

print(`soak of ${minutes} minutes, seed ${seed}; Ctrl-C ends it`);
const milliseconds = minutes * 60_000;
const warmUpMs = Math.max(milliseconds / 5, 30_000);
const report = await soak(
  {
    seed,
    milliseconds,
    warmUpMs,
    rate: 300,
    faultIntervalMs: 15_000,
    maxSilenceMs: 25_000,
    archivals: 100_000,
    maxGrowth: 0.1,
    print,
  },
  stop.signal,
);
print(`\n${renderReport(report)}`);
const failures = findFailures(report);
for (const failure of failures) print(`FAILED: ${failure}`);
if (failures.length > 0) print(`\nlast log lines of the service:\n${report.log.join("\n")}\n`);
print(failures.length === 0 ? "no failures" : `OFFLEDGER_SOAK_SEED=${seed} repeats this run`);
process.exitCode = failures.length === 0 ? 0 : 1;
