/** Pins processes to cores, on machines with `taskset` and at least two cores. */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/** The measured server has this core to itself; load, participants and PostgreSQL share the other. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const canPin = cpus().length > LOAD_CORE && spawnSync("taskset", ["-c", String(LOAD_CORE), "true"]).status === 0;

/** The command that runs `command` on a core; `command` itself where pinning is not possible. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  return canPin ? ["taskset", "-c", String(core), ...command] : command;
}
