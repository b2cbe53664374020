/** Memory, descriptors and CPU time of another process, from /proc. */
import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** Resident memory in bytes. */
  readonly rss: number;
  /** The largest resident memory so far. */
  readonly peakRss: number;
  readonly descriptors: number;
  /** Since the process started. */
  readonly cpuSeconds: number;
}

/** The kernel counts in hundredths of a second on every platform of Node.js. */
const TICKS_PER_SECOND = 100;

/** Undefined once the process has ended. */
export function readUsage(pid: number): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
    const [rss, peakRss] = [bytes("VmRSS"), bytes("VmHWM")];
    if (Number.isNaN(rss)) return undefined;
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    return { rss, peakRss, descriptors, cpuSeconds: readCpuTicks(pid) / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
}

function readCpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the process, in parentheses, may contain spaces. User and system time are the 14th and 15th field.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user ?? 0) + (system ?? 0);
}

const SAMPLE_MS = 250;

/** Samples a process until it is stopped. Calls `exceeded` for each sample above the limit. */
export class UsageSampler {
  peakRss = 0;
  peakDescriptors = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, limitBytes: number, exceeded: () => void) {
    this.#timer = setInterval(() => {
      const usage = readUsage(pid);
      if (usage === undefined) return;
      this.peakRss = Math.max(this.peakRss, usage.peakRss);
      this.peakDescriptors = Math.max(this.peakDescriptors, usage.descriptors);
      if (usage.rss > limitBytes) exceeded();
    }, SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
