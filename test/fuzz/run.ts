/**
 * npm run fuzz                                                    1,000,000 inputs with a random seed, which it prints
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_INPUTS=50000 npm run fuzz  50,000 inputs with seed 7
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_ONLY=rest:12 npm run fuzz  one input, by the name in a failure
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_ONLY=rest:0-999 …          a range of inputs
 *
 * Sends almost valid inputs to the built service on the demo registry: REST requests; Connect, gRPC and gRPC-Web
 * requests; HTTP/1.1 bytes; HTTP/2 frames. An input depends only on the seed, its generator and its index. A run fails on
 * a server-fault status, a response that is late or missing, a log line of level error or above, an exit of the process, a
 * failed control request, and on memory, connections or timers that leak (bounds in fuzz.ts). Other variables that
 * begin with OFFLEDGER_ are settings of the service.
 */
import { randomInt } from "node:crypto";
import type { ResourceUsage } from "../fixtures/built-service.js";
import { formatMiB, fuzz, type FuzzOptions, type FuzzReport } from "./fuzz.js";

const LIMIT_MS = 5_000;
const DEFAULT_INPUTS = 1_000_000;

const readVariable = (name: string): string | undefined => process.env[`OFFLEDGER_FUZZ_${name}`];

function readNumber(name: string, defaultValue: number): number {
  const text = readVariable(name) ?? String(defaultValue);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`OFFLEDGER_FUZZ_${name} must be a whole number, is ${text}`);
}

function parseOnly(text: string | undefined): FuzzOptions["only"] {
  if (text === undefined) return undefined;
  const [, generator, from, to = from] = /^(rest|rpc|http1|http2):(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? [];
  if (generator !== undefined) return { generator, from: Number(from), to: Number(to) + 1 };
  throw new Error(`OFFLEDGER_FUZZ_ONLY must be a generator with an index or a range (rest:12, http1:0-99), is ${text}`);
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

function printReport(report: FuzzReport): void {
  for (const { input, fault, shown } of report.failures) print(`\nFAILED ${input}\n${fault}\n${shown}`);
  const counts = [...report.results]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([key, count]) => `${key}: ${count}`);
  print(`\n${counts.join("\n")}\n`);
  if (report.before !== undefined) print(`warm: ${formatUsage(report.before)}`);
  if (report.after !== undefined) print(`end:  ${formatUsage(report.after)}`);
  const rate = Math.round(report.sent / report.seconds);
  const slowest = `slowest response ${Math.round(report.maxLatencyMs)} ms`;
  print(`${report.sent} inputs in ${Math.round(report.seconds)} s, ${rate}/s; ${slowest}`);
  print(`${report.failures.length} failures`);
}

const formatUsage = ({ heapUsed, external, rss, sockets, timers }: ResourceUsage): string =>
  `heap ${formatMiB(heapUsed)}, external ${formatMiB(external)}, rss ${formatMiB(rss)}, ${sockets} connections, ${timers} timers`;

const seed = readNumber("SEED", randomInt(2 ** 31));
const inputs = readNumber("INPUTS", DEFAULT_INPUTS);
const only = parseOnly(readVariable("ONLY"));
print(`OFFLEDGER_FUZZ_SEED=${seed} repeats this run`);
const settings = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^OFFLEDGER_(?!FUZZ_)/.test(name) && value !== undefined ? [[name, value]] : [],
  ),
);
const report = await fuzz({
  seed,
  inputs,
  only,
  settings,
  limitMs: LIMIT_MS,
  waitsForAll: true,
  progress: (sent) => print(`${sent} sent`),
});
printReport(report);
if (report.failures.length > 0) process.exitCode = 1;
