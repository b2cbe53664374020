/** How long the event loop of this process stands still. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Pauses } from "./target.js";

const turns = monitorEventLoopDelay({ resolution: 1 });
let longestCpu = 0;
let timer: NodeJS.Timeout | undefined;

/** Begins to look, or begins anew. */
export function watch(): void {
  turns.enable();
  turns.reset();
  longestCpu = 0;
  let before = cpuMicros();
  clearInterval(timer);
  timer = setInterval(() => {
    const now = cpuMicros();
    longestCpu = Math.max(longestCpu, now - before);
    before = now;
  }, 1);
}

/** In milliseconds, since the watch began; which is over then. */
export function seen(): Pauses {
  clearInterval(timer);
  turns.disable();
  return { longest: turns.max / 1e6, p999: turns.percentile(99.9) / 1e6, longestCpu: longestCpu / 1000 };
}

/** All threads of the process are on one core: what the collector's take, the event loop waits. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
