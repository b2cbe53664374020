/** The result of a soak, its failures, and the growth of memory. */
export interface Memory {
  /** In bytes, after a garbage collection: the heap and the buffers that it references. */
  readonly heap: number;
  readonly rss: number;
}

export interface Growth {
  readonly before: Memory;
  readonly after: Memory;
  /** Allowed growth, as a share of the memory after the warm-up. */
  readonly limit: number;
}

const COMPARED = 5;

export function computeGrowth(samples: readonly Memory[], limit: number): Growth | undefined {
  if (samples.length < 2 * COMPARED) return undefined;
  const medians = (part: readonly Memory[]): Memory => ({
    heap: median(part.map(({ heap }) => heap)),
    rss: median(part.map(({ rss }) => rss)),
  });
  return { before: medians(samples.slice(0, COMPARED)), after: medians(samples.slice(-COMPARED)), limit };
}

export function findExcessGrowth({ before, after, limit }: Growth): string[] {
  return (["heap", "rss"] as const)
    .filter((which) => after[which] > before[which] * (1 + limit))
    .map((which) => `${which} grew from ${formatMegabytes(before[which])} to ${formatMegabytes(after[which])}`);
}

export const formatMegabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

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
    const { before, after, limit } = growth;
    const change = (100 * (after[which] / before[which] - 1)).toFixed(1);
    return `${formatMegabytes(before[which])} after the warm-up, ${formatMegabytes(after[which])} at the end: ${change} % (limit ${limit * 100} %)`;
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
