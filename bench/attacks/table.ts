/** The results as a text table. */
import { renderColumns } from "../report/columns.js";
import { formatNumber } from "../report/row.js";
import type { Figures } from "./honest/figures.js";
import type { ScenarioResult } from "./run-scenario.js";

const HEADER = [
  "scenario",
  "lived",
  "p50 ms",
  "p99 ms",
  "quiet p99",
  "200",
  "200 after",
  "RSS MB before",
  "peak",
  "after",
  "fds",
  "livez failed",
  "attack",
];

export function renderAttacks(results: readonly ScenarioResult[]): string {
  return renderColumns([HEADER, ...results.map(cellsOf)]);
}

function cellsOf({ name, death, memory, peakDescriptors, honest, attack, note }: ScenarioResult): string[] {
  const { quiet, attack: during, after } = honest;
  return [
    name,
    death ?? "yes",
    milliseconds(during.p50),
    milliseconds(during.p99),
    milliseconds(quiet.p99),
    `${share(during)}${formatCounts(during.failures)}`,
    share(after),
    megabytes(memory.before),
    megabytes(memory.peak),
    memory.after === undefined ? "–" : megabytes(memory.after),
    String(peakDescriptors),
    `${during.livezFailures}/${during.livezProbes}`,
    describeAttack(attack) + (note === undefined ? "" : `; ${note}`),
  ];
}

const milliseconds = (value: number | null): string => (value === null ? "–" : formatNumber(value));
const megabytes = (bytes: number): string => String(Math.round(bytes / 1e6));
const share = ({ ok, requests }: Figures): string =>
  requests === 0 ? "–" : `${(Math.floor((ok / requests) * 1000) / 10).toFixed(1)} %`;

function describeAttack({ opened, refused, closed, requests, sentBytes, answers }: ScenarioResult["attack"]): string {
  const connections = `${opened} connections (${refused} refused, ${closed} closed)`;
  return `${connections}, ${requests} requests, ${megabytes(sentBytes)} MB sent${formatCounts(answers)}`;
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name}: ${count}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
