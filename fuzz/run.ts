/**
 * npm run fuzz                                                    1,000,000 inputs, by a seed that it prints
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_INPUTS=50000 npm run fuzz  fewer, by a seed of one's own
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_ONLY=rest:12 npm run fuzz  one of them again, as a failure names it
 * OFFLEDGER_FUZZ_SEED=7 OFFLEDGER_FUZZ_ONLY=rest:0-999 …          some of them again
 *
 * Requests and bytes that are nearly right are sent to the built service, which serves the demo registry as a process of
 * its own: REST; Connect, gRPC and gRPC-Web; bytes that are nearly HTTP/1.1; frames that are nearly HTTP/2. What an input
 * is depends on the seed, its sort and its number alone. What fails a run: a status that blames the service, an answer
 * that takes longer than the limit or does not come, a line of the log at error or beyond, the end of the process, a right
 * request on a fresh connection that is not answered as it should be, and memory, connections or timers that are left behind
 * (leaks.ts has the bounds). Other variables that begin with OFFLEDGER_ are settings of the service.
 */
import { randomInt } from "node:crypto";
import { fuzz, type Options, type Report } from "./fuzz.js";
import { mb } from "./leak-check.js";
import type { Inside } from "./service/service.js";

const LIMIT_MS = 5_000;
const INPUTS = 1_000_000;

const setting = (name: string): string | undefined => process.env[`OFFLEDGER_FUZZ_${name}`];

function numberOf(name: string, otherwise: number): number {
  const text = setting(name) ?? String(otherwise);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`OFFLEDGER_FUZZ_${name} takes a whole number, and is ${text}`);
}

function onlyOf(text: string | undefined): Options["only"] {
  if (text === undefined) return undefined;
  const [, sort, from, to = from] = /^(rest|rpc|http1|http2):(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? [];
  if (sort !== undefined) return { sort, from: Number(from), to: Number(to) + 1 };
  throw new Error(`OFFLEDGER_FUZZ_ONLY takes a sort and a number or two, as rest:12 or http1:0-99, and is ${text}`);
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

function print(report: Report): void {
  for (const { input, wrong, shown } of report.failures) say(`\nFAILED ${input}\n${wrong}\n${shown}`);
  const counts = [...report.came].toSorted(([a], [b]) => a.localeCompare(b)).map(([what, much]) => `${what}: ${much}`);
  say(`\n${counts.join("\n")}\n`);
  if (report.before !== undefined) say(`warm: ${told(report.before)}`);
  if (report.after !== undefined) say(`end:  ${told(report.after)}`);
  const rate = Math.round(report.sent / report.seconds);
  say(
    `${report.sent} inputs in ${Math.round(report.seconds)} s, ${rate}/s; slowest ${Math.round(report.slowestMs)} ms`,
  );
  say(`${report.failures.length === 0 ? "nothing" : report.failures.length} failed`);
}

const told = ({ heapUsed, external, rss, sockets, timers }: Inside): string =>
  `heap ${mb(heapUsed)}, external ${mb(external)}, rss ${mb(rss)}, ${sockets} connections, ${timers} timers`;

const seed = numberOf("SEED", randomInt(2 ** 31));
const inputs = numberOf("INPUTS", INPUTS);
const only = onlyOf(setting("ONLY"));
say(`OFFLEDGER_FUZZ_SEED=${seed} repeats this run`);
// Neither a machine that stands still for a moment, nor connections of broken HTTP/2 that stay for a while, are to fail a run.
const defaults = { OFFLEDGER_MAX_DELAY_MS: "0", OFFLEDGER_MAX_CONNECTIONS: "100000" };
const env = Object.fromEntries(
  Object.entries({ ...defaults, ...process.env }).filter(([name]) => !name.startsWith("OFFLEDGER_FUZZ_")),
);
const report = await fuzz({
  seed,
  inputs,
  only,
  env,
  limitMs: LIMIT_MS,
  waitsForAll: true,
  progress: (sent) => say(`${sent} sent`),
});
print(report);
if (report.failures.length > 0) process.exitCode = 1;
