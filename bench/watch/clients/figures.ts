/** Figures of the events that arrived since a time. */
import { median, percentile } from "../../report/row.js";
import type { Commits } from "../ledger/process.js";
import type { ReceivedEvent, StreamLog } from "./stream-log.js";

/** Of a stream without a filter, every so many updates are followed. */
const SAMPLE = 50;
/** The interval of heartbeats, that of their check, and half a second. */
const HEARTBEAT_LIMIT_MS = 11_000;

export interface StreamFigures {
  /** Streams that have ended before their time, by the reason. */
  readonly ended: Readonly<Record<string, number>>;
  /** Of the whole time measured. */
  readonly events: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** Times between two events of a stream, the end of the time included. */
  readonly silences: { readonly count: number; readonly late: number; readonly maxMs: number };
  /** From the commit of an update to an event at or after it; undefined without updates. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly missing: number } | undefined;
}

export function streamFigures(
  logs: readonly StreamLog[],
  from: number,
  to: number,
  commits: Commits | undefined,
  registrars: number,
): StreamFigures {
  const ended: Record<string, number> = {};
  const events: Record<string, number> = {};
  let bytes = 0;
  const silences = { count: 0, late: 0, maxMs: 0 };
  for (const log of logs) {
    if (log.end !== undefined) ended[log.end] = (ended[log.end] ?? 0) + 1;
    let last: number | undefined;
    for (const event of log.events) {
      if (last !== undefined) addSilence(silences, event.at - last);
      last = event.at;
      if (event.at < from || event.at > to) continue;
      events[event.type] = (events[event.type] ?? 0) + 1;
      bytes += event.bytes;
    }
    if (last !== undefined) addSilence(silences, to - last);
  }
  return { ended, events, bytes, silences, delay: commits && delays(logs, from, commits, registrars) };
}

function addSilence(silences: { count: number; late: number; maxMs: number }, milliseconds: number): void {
  silences.count++;
  if (milliseconds > HEARTBEAT_LIMIT_MS) silences.late++;
  silences.maxMs = Math.max(silences.maxMs, milliseconds);
}

function delays(logs: readonly StreamLog[], from: number, commits: Commits, registrars: number) {
  const found: number[] = [];
  let missing = 0;
  for (const [index, log] of logs.entries()) {
    const events = log.events.filter(({ at }) => at >= from);
    let next = 0;
    const [first, step] = log.registrar === undefined ? [index % SAMPLE, SAMPLE] : [log.registrar, registrars];
    for (let update = first; update < commits.at.length; update += step) {
      next = firstCovering(events, next, commits.firstOffset + update);
      const event = events[next];
      if (event === undefined) missing++;
      else found.push(event.at - (commits.at[update] ?? 0));
    }
  }
  return found.length === 0 ? undefined : { p50: median(found), p99: percentile(found, 0.99), missing };
}

/** Index of the first event from `start` on that says what changed at the offset. */
function firstCovering(events: readonly ReceivedEvent[], start: number, offset: number): number {
  let index = start;
  while (index < events.length && (events[index]?.offset ?? 0) < offset) index++;
  return index;
}
