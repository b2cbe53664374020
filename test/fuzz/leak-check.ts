/** Bounds for what the service holds after a run. */
import type { ResourceUsage } from "./service/service.js";

const MB = 1024 * 1024;

/** Growth since the warm-up that compiled code, tables and pooled buffers explain. None of them grows without bound. */
const MAX_GROWTH = { heapUsed: 12 * MB, external: 48 * MB, rss: 256 * MB };
const MAX_MORE_TIMERS = 8;

/** Returns a message for each bound that is exceeded. `lingering` connections may be open, with a timer each. */
export function findLeaks(before: ResourceUsage, after: ResourceUsage, lingering = 0): string[] {
  const leaks: string[] = [];
  for (const [name, max] of Object.entries(MAX_GROWTH) as [keyof typeof MAX_GROWTH, number][]) {
    const growth = after[name] - before[name];
    if (growth > max) leaks.push(`${name} grew by ${formatMiB(growth)}, more than ${formatMiB(max)}`);
  }
  if (after.sockets > lingering) leaks.push(`${after.sockets} connections are open that the clients have closed`);
  if (after.timers > before.timers + MAX_MORE_TIMERS + lingering)
    leaks.push(`${after.timers} timers are active, ${before.timers} after the warm-up`);
  return leaks;
}

export const formatMiB = (bytes: number): string => `${(bytes / MB).toFixed(1)} MiB`;
