import { checkContext } from "./check-context.js";
import type { StoreScan } from "../../store/port.js";
import type { Check } from "../sdk/warnings.js";
import { WarningCollector } from "./warning-collector.js";

export interface ScanOptions {
  readonly credentialDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits for some milliseconds; resolves early when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Checks so many contracts of each template; all that the scan lists if absent. */
  readonly maxContracts?: number | undefined;
}

export interface ScanResult {
  readonly found: WarningCollector;
  /** Whether every contract was checked. */
  readonly isComplete: boolean;
  /** How many contracts were checked, each once for each check of its template. */
  readonly checked: number;
  /** The offset of the last state that was read; undefined if nothing was. */
  readonly offset: number | undefined;
}

/** Contracts of one step, in which no request is answered. The next step is smaller or larger by what it took. */
const FIRST_STEP = 25;
const MIN_STEP = 10;
const MAX_STEP = 100;
const LONG_MS = 5;
const SHORT_MS = 1;
/** A scan uses at most a twentieth of a processor, and a database at most a fifth of the time. */
const REST_PER_CPU = 19;
const REST_PER_WAIT = 4;

/** Runs the checks in short steps, with rests in between. Throws what a read throws, and stops early on an abort. */
export async function scanWarnings(
  scan: StoreScan,
  checks: readonly Check[],
  options: ScanOptions,
): Promise<ScanResult> {
  const found = new WarningCollector();
  const { maxContracts = Infinity } = options;
  let isComplete = true;
  let checked = 0;
  let size = FIRST_STEP;
  let offset: number | undefined;
  for (const check of checks) {
    const listed = await scan.ids(check.template);
    const ids = listed.ids.slice(0, maxContracts);
    isComplete &&= listed.isComplete && ids.length === listed.ids.length;
    for (let from = 0; from < ids.length && !options.signal.aborted;) {
      const stepIds = ids.slice(from, from + size);
      const step = await runStep(scan, check, stepIds, options);
      from += size;
      checked += stepIds.length;
      size = nextSize(size, step.longestMs);
      for (const warning of step.warnings) found.add(warning);
      offset = step.offset;
      await options.pause(Math.max(step.cpuMs * REST_PER_CPU, step.waitMs * REST_PER_WAIT));
    }
  }
  return { found, isComplete, checked, offset };
}

/** `longestMs` is the longest run of a step: on a database it runs again after each query. */
function nextSize(size: number, longestMs: number): number {
  if (longestMs > LONG_MS) return Math.max(MIN_STEP, size >> 1);
  return longestMs < SHORT_MS ? Math.min(MAX_STEP, size * 2) : size;
}

async function runStep(scan: StoreScan, check: Check, ids: readonly string[], { credentialDays, now }: ScanOptions) {
  const startedAt = performance.now();
  let cpuMs = 0;
  let longestMs = 0;
  const result = await scan.read((view) => {
    const runAt = performance.now();
    try {
      view.prefetch(() => ids.map((contractId) => ({ template: check.template, contractId })));
      // Some may have been archived since they were listed.
      const contracts = ids.map((id) => view.byId(check.template, id)).filter((found) => found !== undefined);
      const warnings = check.warnings(checkContext(view, now(), credentialDays), contracts);
      return { warnings, offset: view.offset };
    } finally {
      const runMs = performance.now() - runAt;
      cpuMs += runMs;
      longestMs = Math.max(longestMs, runMs);
    }
  });
  return { ...result, cpuMs, longestMs, waitMs: performance.now() - startedAt - cpuMs };
}
