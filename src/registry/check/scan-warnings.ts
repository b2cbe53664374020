import { checkContext } from "./check-context.js";
import type { StoreScan } from "../../store/port.js";
import { StoreSteps } from "../store-steps.js";
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

const MAX_STEP = 100;
/** A scan uses at most a twentieth of a processor, and a database at most a fifth of the time. */
const REST_PER_CPU = 19;
const REST_PER_WAIT = 4;

/** Runs the checks in short steps, with rests in between. Throws what a read throws, and stops early on an abort. */
export async function scanWarnings(
  scan: StoreScan,
  checks: readonly Check[],
  options: ScanOptions,
): Promise<ScanResult> {
  const { credentialDays, now, pause, signal, maxContracts = Infinity } = options;
  const limits = { maxStep: MAX_STEP, restPerCpu: REST_PER_CPU, restPerWait: REST_PER_WAIT, now, pause, signal };
  const steps = new StoreSteps(scan, limits);
  const found = new WarningCollector();
  let isComplete = true;
  let checked = 0;
  let offset: number | undefined;
  for (const check of checks) {
    const { template, overall } = check;
    const listed = await scan.ids(template);
    const ids = listed.ids.slice(0, maxContracts);
    const isWhole = listed.isComplete && ids.length === listed.ids.length;
    isComplete &&= isWhole;
    const observed: unknown[] = [];
    const checkStep = steps.run(template, ids, (view, contracts, at) => {
      const context = checkContext(view, at, credentialDays);
      return {
        warnings: check.warnings(context, contracts),
        observed: isWhole ? overall?.observe(context, contracts) : undefined,
        offset: view.offset,
      };
    });
    for await (const { result, count } of checkStep) {
      checked += count;
      observed.push(result.observed);
      for (const warning of result.warnings) found.add(warning);
      offset = result.offset;
    }
    if (overall === undefined || !isWhole || signal.aborted) continue;
    const at = now();
    const concluded = await scan.read((view) => overall.conclude(checkContext(view, at, credentialDays), observed));
    for (const warning of concluded) found.add(warning);
  }
  return { found, isComplete, checked, offset };
}
