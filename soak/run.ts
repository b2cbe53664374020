/** npm run soak: the service under everything at once, for OFFLEDGER_SOAK_MINUTES. Exits 1 where something is wrong. */
import { faultsOf, tableOf } from "./report.js";
import { settingsOf } from "./settings.js";
import { soak } from "./soak.js";

const settings = settingsOf(process.env);
if (typeof settings === "string") {
  process.stderr.write(`${settings}\n`);
  process.exit(2);
}
const { minutes, seed } = settings;
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // The second time it ends as it would have without this.
  process.once(name, () => stop.abort());
}
const say = (line: string) => void process.stdout.write(`${line}\n`);

say(`a soak of ${minutes} minutes, seed ${seed}; Ctrl-C ends it`);
const milliseconds = minutes * 60_000;
const warmUpMs = Math.max(milliseconds / 5, 30_000);
const report = await soak(
  {
    seed,
    milliseconds,
    warmUpMs,
    rate: 300,
    cutEveryMs: 15_000,
    longestSilenceMs: 25_000,
    archivals: 100_000,
    say,
  },
  stop.signal,
);
say(`\n${tableOf(report)}`);
const faults = faultsOf(report);
for (const fault of faults) say(`WRONG: ${fault}`);
if (faults.length > 0) say(`\nthe service logged last:\n${report.log.join("\n")}\n`);
say(faults.length === 0 ? "all is well" : `seed ${seed} has the script come again: OFFLEDGER_SOAK_SEED=${seed}`);
process.exitCode = faults.length === 0 ? 0 : 1;
