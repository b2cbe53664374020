/** What a soak has seen: whether it is as it has to be, and as a table. */
import { type Growth, megabytes, MOST_GROWTH, tooMuch } from "./memory.js";

type Counts = Readonly<Record<string, number>>;

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly requests: Counts;
  readonly answers: Counts;
  readonly changes: Counts;
  readonly cuts: Counts;
  readonly slowClients: Counts;
  readonly contracts: number;
  readonly wrongs: number;
  /** The first of them, in words. */
  readonly wrong: readonly string[];
  readonly medianMs: number;
  readonly percentile99Ms: number;
  /** Undefined where it did not last long enough to tell. */
  readonly growth: Growth | undefined;
  /** What else was not as it has to be. */
  readonly troubles: readonly string[];
  /** The last lines of the service's log. */
  readonly log: readonly string[];
  /** Whether it was ended before its time. */
  readonly isCutShort: boolean;
}

/** What is wrong; nothing where all is well. */
export function faultsOf({ wrongs, wrong, growth, troubles, requests, cuts, changes, isCutShort }: Report): string[] {
  const empty = Object.entries({ requests, cuts, changes }).filter(([, counts]) => sum(counts) === 0);
  return [
    ...troubles,
    ...(wrongs > 0 ? [`${wrongs} answers were wrong, the first of them:`, ...wrong] : []),
    ...(growth === undefined ? [] : tooMuch(growth)),
    ...(isCutShort ? [] : empty.map(([name]) => `there were no ${name}`)),
  ];
}

export function tableOf(report: Report): string {
  const { growth } = report;
  const memory = (which: "heap" | "rss"): string => {
    if (growth === undefined) return "not measured: too short";
    const { before, after } = growth;
    const change = (100 * (after[which] / before[which] - 1)).toFixed(1);
    return `${megabytes(before[which])} after the warm-up, ${megabytes(after[which])} at the end: ${change} % (at most ${MOST_GROWTH * 100})`;
  };
  const rows: readonly (readonly [string, string])[] = [
    ["seed", String(report.seed)],
    ["lasted", `${report.seconds.toFixed(0)} s${report.isCutShort ? ", ended before its time" : ""}`],
    ["requests", `${sum(report.requests)}: ${listed(report.requests)}`],
    ["answers", listed(report.answers)],
    ["wrong answers", String(report.wrongs)],
    ["latency", `median ${report.medianMs.toFixed(1)} ms, 99th percentile ${report.percentile99Ms.toFixed(1)} ms`],
    ["changes", `${sum(report.changes)}: ${listed(report.changes)}`],
    ["contracts at the end", String(report.contracts)],
    ["cuts", `${sum(report.cuts)}: ${listed(report.cuts)}`],
    ["slow clients", `${sum(report.slowClients)}: ${listed(report.slowClients)}`],
    ["heap", memory("heap")],
    ["resident", memory("rss")],
  ];
  return rows.map(([name, value]) => `${name.padEnd(22)}${value}\n`).join("");
}

const sum = (counts: Counts): number => Object.values(counts).reduce((all, one) => all + one, 0);

const listed = (counts: Counts): string =>
  Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
