/** The result of a soak, and its failures. */
import { formatMegabytes, type Growth, findExcessGrowth, MAX_GROWTH } from "./memory.js";

type Counts = Readonly<Record<string, number>>;

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly requests: Counts;
  readonly responses: Counts;
  readonly ledgerChanges: Counts;
  readonly faults: Counts;
  readonly slowClients: Counts;
  readonly cachedClients: Counts;
  readonly contracts: number;
  readonly wrongResponses: number;
  readonly wrongResponseMessages: readonly string[];
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Undefined for a soak that was too short to measure it. */
  readonly growth: Growth | undefined;
  readonly errors: readonly string[];
  readonly log: readonly string[];
  readonly wasInterrupted: boolean;
}

export function findFailures(report: Report): string[] {
  const { wrongResponses, wrongResponseMessages, growth, errors, requests, ledgerChanges, faults } = report;
  const parts = { requests, "ledger changes": ledgerChanges, faults };
  const missing = Object.entries(parts).filter(([, counts]) => sum(counts) === 0);
  return [
    ...errors,
    ...(wrongResponses > 0 ? [`${wrongResponses} wrong responses, the first of them:`, ...wrongResponseMessages] : []),
    ...(growth === undefined ? [] : findExcessGrowth(growth)),
    ...(report.wasInterrupted ? [] : missing.map(([name]) => `no ${name}`)),
  ];
}

export function renderReport(report: Report): string {
  const { growth } = report;
  const formatMemory = (which: "heap" | "rss"): string => {
    if (growth === undefined) return "not measured: the soak was too short";
    const { before, after } = growth;
    const change = (100 * (after[which] / before[which] - 1)).toFixed(1);
    return `${formatMegabytes(before[which])} after the warm-up, ${formatMegabytes(after[which])} at the end: ${change} % (limit ${MAX_GROWTH * 100} %)`;
  };
  const rows: readonly (readonly [string, string])[] = [
    ["seed", String(report.seed)],
    ["duration", `${report.seconds.toFixed(0)} s${report.wasInterrupted ? ", interrupted" : ""}`],
    ["requests", `${sum(report.requests)}: ${formatCounts(report.requests)}`],
    ["responses", formatCounts(report.responses)],
    ["wrong responses", String(report.wrongResponses)],
    ["latency", `median ${report.medianMs.toFixed(1)} ms, p99 ${report.p99Ms.toFixed(1)} ms`],
    ["ledger changes", `${sum(report.ledgerChanges)}: ${formatCounts(report.ledgerChanges)}`],
    ["contracts at the end", String(report.contracts)],
    ["injected faults", `${sum(report.faults)}: ${formatCounts(report.faults)}`],
    ["slow clients", `${sum(report.slowClients)}: ${formatCounts(report.slowClients)}`],
    ["cached clients", formatCounts(report.cachedClients)],
    ["heap", formatMemory("heap")],
    ["resident set", formatMemory("rss")],
  ];
  return rows.map(([name, value]) => `${name.padEnd(22)}${value}\n`).join("");
}

const sum = (counts: Counts): number => Object.values(counts).reduce((total, count) => total + count, 0);

const formatCounts = (counts: Counts): string =>
  Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
