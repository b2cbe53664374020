/** Records the event loop's delay in this process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { LoopDelay } from "./target.js";

const histogram = monitorEventLoopDelay({ resolution: 1 });
let maxCpu = 0;
let timer: NodeJS.Timeout | undefined;

export function watchLoop(): void {
  histogram.enable();
  histogram.reset();
  maxCpu = 0;
  let before = cpuMicroseconds();
  clearInterval(timer);
  timer = setInterval(() => {
    const now = cpuMicroseconds();
    maxCpu = Math.max(maxCpu, now - before);
    before = now;
  }, 1);
}

export function readLoopDelay(): LoopDelay {
  clearInterval(timer);
  histogram.disable();
  return { max: histogram.max / 1e6, p999: histogram.percentile(99.9) / 1e6, maxCpu: maxCpu / 1000 };
}

/** CPU time of all threads: they share one core, so the event loop waits for the others. */
export function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
