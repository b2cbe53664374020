/** Samples the service's memory during a soak. */
import { setTimeout as delay } from "node:timers/promises";
import type { FaultInjector } from "./fault-injector.js";
import type { LedgerWorkload } from "./ledger-workload.js";
import { formatMegabytes, type Memory } from "./memory.js";
import type { SoakOptions } from "./options.js";
import type { Service } from "./service.js";

const SAMPLES = 50;
const MIN_INTERVAL_MS = 1_500;

interface SamplerOptions {
  readonly service: Service;
  readonly options: SoakOptions;
  readonly faultInjector: FaultInjector;
  readonly workload: LedgerWorkload;
  readonly samples: Memory[];
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

/** During the warm-up makes the service take a new snapshot and fills its memory of archivals; samples memory after it. */
export async function sampleMemory(sampler: SamplerOptions): Promise<void> {
  const { service, options, faultInjector, workload, samples, startedAt, signal } = sampler;
  const { milliseconds, warmUpMs, archivals, print } = options;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  await pause(warmUpMs / 8);
  // A new snapshot clears the memory of archivals, so it comes first.
  if (!signal.aborted) faultInjector.prune();
  await pause(warmUpMs / 4);
  await workload.fillArchivals(archivals, signal);
  await pause(Math.max(0, startedAt + warmUpMs - performance.now()));
  const intervalMs = Math.max((milliseconds - warmUpMs) / SAMPLES, MIN_INTERVAL_MS);
  while (!signal.aborted) {
    const { heap, rss } = await service.memory();
    samples.push({ heap, rss });
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    print(`${seconds} s: heap ${formatMegabytes(heap)}, resident set ${formatMegabytes(rss)}`);
    await pause(intervalMs);
  }
}
