/** The memory of the service over the time of a soak. */
import { setTimeout as delay } from "node:timers/promises";
import type { Changes } from "./ledger-workload.js";
import type { Cuts } from "./fault-injector.js";
import { megabytes, type Memory } from "./memory.js";
import type { SoakOptions } from "./options.js";
import type { Service } from "./service.js";

/** Samples of memory behind the warm-up, and the least time between two, in milliseconds. */
const SAMPLES = 50;
const LEAST_BETWEEN_MS = 1_500;

interface Measuring {
  readonly service: Service;
  readonly options: SoakOptions;
  readonly cuts: Cuts;
  readonly changes: Changes;
  /** Where the samples go. */
  readonly samples: Memory[];
  /** When the soak began, by `performance.now()`. */
  readonly begun: number;
  readonly signal: AbortSignal;
}

/** Has a snapshot be taken anew and the memory of archivals be filled in the warm-up, and samples memory from then on. */
export async function measure({ service, options, cuts, changes, samples, begun, signal }: Measuring): Promise<void> {
  const { milliseconds, warmUpMs, archivals, say } = options;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  await pause(warmUpMs / 8);
  // Afterwards no snapshot is asked for: it has the archivals forgotten.
  if (!signal.aborted) cuts.prune();
  await pause(warmUpMs / 4);
  await changes.fill(archivals, signal);
  await pause(Math.max(0, begun + warmUpMs - performance.now()));
  const betweenMs = Math.max((milliseconds - warmUpMs) / SAMPLES, LEAST_BETWEEN_MS);
  while (!signal.aborted) {
    const { heap, rss } = await service.memory();
    samples.push({ heap, rss });
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
    say(`${seconds} s: heap ${megabytes(heap)}, resident ${megabytes(rss)}`);
    await pause(betweenMs);
  }
}
