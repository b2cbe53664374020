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
}

export interface ScanResult {
  readonly found: WarningCollector;
  /** Whether every contract was checked. */
  readonly isComplete: boolean;
  /** The offset of the last state that was read; undefined if nothing was. */
  readonly offset: number | undefined;
}

/** One step takes a few milliseconds at most, in which no request is answered. */
const STEP_CONTRACTS = 100;
/** A scan uses at most a twentieth of the processor, and waits four fifths of the time for which it uses a database. */
const REST_PER_CPU = 19;
const REST_PER_WAIT = 4;

/** Runs the checks in short steps, with rests in between. Throws what a read throws, and stops early on an abort. */
export async function scanWarnings(
  scan: StoreScan,
  checks: readonly Check[],
  options: ScanOptions,
): Promise<ScanResult> {
  const found = new WarningCollector();
  let isComplete = true;
  let offset: number | undefined;
  for (const check of checks) {
    const listed = await scan.ids(check.template);
    isComplete &&= listed.isComplete;
    for (let from = 0; from < listed.ids.length && !options.signal.aborted; from += STEP_CONTRACTS) {
      const step = await runStep(scan, check, listed.ids.slice(from, from + STEP_CONTRACTS), options);
      for (const warning of step.warnings) found.add(warning);
      offset = step.offset;
      await options.pause(Math.max(step.cpuMs * REST_PER_CPU, step.waitMs * REST_PER_WAIT));
    }
  }
  return { found, isComplete, offset };
}

async function runStep(scan: StoreScan, check: Check, ids: readonly string[], { credentialDays, now }: ScanOptions) {
  const startedAt = performance.now();
  let cpuMs = 0;
  const result = await scan.read((view) => {
    const runAt = performance.now();
    try {
      view.prefetch(() => ids.map((contractId) => ({ template: check.template, contractId })));
      // Some may have been archived since they were listed.
      const contracts = ids.map((id) => view.byId(check.template, id)).filter((found) => found !== undefined);
      const warnings = check.warnings({ view, now: now(), credentialDays }, contracts);
      return { warnings, offset: view.offset };
    } finally {
      cpuMs += performance.now() - runAt;
    }
  });
  return { ...result, cpuMs, waitMs: performance.now() - startedAt - cpuMs };
}
