/** Memory and descriptors of another process, from /proc. */
import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** Resident memory in bytes. */
  readonly rss: number;
  /** The largest resident memory so far. */
  readonly peakRss: number;
  readonly descriptors: number;
}

/** Undefined once the process has ended. */
export function readUsage(pid: number): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
    const [rss, peakRss] = [bytes("VmRSS"), bytes("VmHWM")];
    if (Number.isNaN(rss)) return undefined;
    return { rss, peakRss, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
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
