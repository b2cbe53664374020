/** The results as a text table. */
import { formatNumber } from "../report/row.js";
import { renderColumns } from "../report/columns.js";
import type { WatchResult } from "./run-scenario.js";

const HEADER = [
  "scenario",
  "streams",
  "open s",
  "RSS MB before",
  "open",
  "KB/stream",
  "end",
  "peak",
  "closed",
  "CPU",
  "events/stream/s",
  "delay p50 ms",
  "p99",
  "caller p50 ms",
  "p99",
  "quiet p99",
];

export function renderWatch(results: readonly WatchResult[]): string {
  return renderColumns([HEADER, ...results.map(cellsOf)]) + results.map(describe).join("");
}

function cellsOf({ name, streams, openSeconds, memory, cpu, figures, caller, ...result }: WatchResult): string[] {
  const events = sum(figures.events) / streams / result.elapsedSeconds;
  return [
    name,
    String(streams),
    formatNumber(openSeconds),
    megabytes(memory.before),
    megabytes(memory.open),
    formatNumber((memory.open - memory.before) / streams / 1000),
    megabytes(memory.end),
    megabytes(memory.peak),
    megabytes(memory.closed),
    `${formatNumber(cpu * 100)} %`,
    formatNumber(events),
    milliseconds(figures.delay?.p50),
    milliseconds(figures.delay?.p99),
    milliseconds(caller?.attack.p50),
    milliseconds(caller?.attack.p99),
    milliseconds(caller?.quiet.p99),
  ];
}

/** What has no column. */
function describe({ name, figures, afterwards, elapsedSeconds, rate, caller, death, log }: WatchResult): string {
  const { silences, delay } = figures;
  const inTime = ((1 - silences.late / Math.max(1, silences.count)) * 100).toFixed(2);
  const lines = [
    `${rate} updates/s for ${elapsedSeconds.toFixed(1)} s; ${counts(figures.events)}; ${megabytes(figures.bytes)} MB`,
    `loop delay of the clients, p99: ${formatNumber(figures.loopDelayP99)} ms`,
  ];
  // A client that does not read sees no heartbeats.
  if (afterwards === undefined)
    lines.push(`silences of at most 11 s: ${inTime} %, the longest ${(silences.maxMs / 1000).toFixed(1)} s`);
  if (delay !== undefined && delay.missing > 0)
    lines.push(`LATE: ${delay.missing} sampled updates had not arrived 2 s after the last one`);
  if (figures.refused > 0) lines.push(`${figures.refused} streams were refused at first`);
  if (sum(figures.ended) > 0) lines.push(`ENDED: ${counts(figures.ended)}`);
  if (afterwards !== undefined) {
    const { events, bytes, ended } = afterwards;
    lines.push(`when they read again: ${counts(events)}; ${megabytes(bytes)} MB; ended ${counts(ended)}`);
  }
  if (caller !== undefined) lines.push(`caller: ${caller.attack.ok} of ${caller.attack.requests} answered with 200`);
  if (death !== undefined) lines.push(`THE SERVICE DIED: ${death}`);
  if (/warning/i.test(log)) lines.push(`LOG: ${log}`);
  return lines.map((line) => `${name}: ${line}\n`).join("");
}

const sum = (counted: Readonly<Record<string, number>>): number =>
  Object.values(counted).reduce((total, count) => total + count, 0);
const megabytes = (bytes: number): string => String(Math.round(bytes / 1e6));
const milliseconds = (value: number | null | undefined): string => (value == null ? "–" : formatNumber(value));

function counts(counted: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counted).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}
