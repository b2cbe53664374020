/** A memory limit for a child process: a control group where one can be made, else the caller has to sample. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface MemoryLimit {
  readonly bytes: number;
  readonly kind: "cgroup v1" | "cgroup v2" | "sampling";
  /** A process joins the limit when it writes its id to this file. */
  readonly membersFile: string | undefined;
  /** Whether the kernel has killed a member. */
  hasKilled(): boolean;
  stop(): Promise<void>;
}

interface Version {
  readonly kind: MemoryLimit["kind"];
  readonly root: string;
  readonly limitFile: string;
  /** The file with a line `oom_kill N`. */
  readonly eventsFile: string;
}

const versions: readonly Version[] = [
  {
    kind: "cgroup v1",
    root: "/sys/fs/cgroup/memory",
    limitFile: "memory.limit_in_bytes",
    eventsFile: "memory.oom_control",
  },
  { kind: "cgroup v2", root: "/sys/fs/cgroup", limitFile: "memory.max", eventsFile: "memory.events" },
];
const REMOVALS = 20;
const REMOVAL_PAUSE_MS = 50;

export function createMemoryLimit(bytes: number): MemoryLimit {
  for (const version of versions) {
    const limit = tryCreate(version, bytes);
    if (limit !== undefined) return limit;
  }
  return { bytes, kind: "sampling", membersFile: undefined, hasKilled: () => false, stop: async () => undefined };
}

function tryCreate({ kind, root, limitFile, eventsFile }: Version, bytes: number): MemoryLimit | undefined {
  const folder = join(root, `offledger-attacks-${process.pid}`);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  try {
    // Without the memory controller the folder exists, but this file does not.
    writeFileSync(join(folder, limitFile), String(bytes), { flag: "r+" });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  return {
    bytes,
    kind,
    membersFile: join(folder, "cgroup.procs"),
    hasKilled: () => /^oom_kill [1-9]/m.test(readFileSync(join(folder, eventsFile), "utf8")),
    stop: () => remove(folder),
  };
}

/** The kernel removes the exited members a moment later. */
async function remove(folder: string): Promise<void> {
  for (let count = 0; ; count++) {
    try {
      rmdirSync(folder);
      return;
    } catch (error) {
      if (count === REMOVALS) throw error;
      await delay(REMOVAL_PAUSE_MS);
    }
  }
}
