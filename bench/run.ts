/** npm run bench -- NAME: runs one benchmark, and prints its table. Figures are for people; none fails a build. */
import { benchLedger } from "./ledger.js";
import { report, type Row } from "./report.js";
import { benchServing } from "./serving/bench.js";

const benches: Readonly<Record<string, () => Promise<Row[]>>> = {
  ledger: benchLedger,
  serving: benchServing,
};

const name = process.argv[2] ?? "";
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (bench === undefined) {
  process.stderr.write(`npm run bench -- NAME, with NAME one of ${Object.keys(benches).join(", ")}\n`);
  process.exitCode = 2;
} else {
  process.stdout.write(report(await bench()));
}
