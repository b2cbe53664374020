/** Which core a process runs on, where there are two and the system can be told. */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/** What is measured has this core for itself; load and participants share the other. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const canPin = cpus().length > LOAD_CORE && spawnSync("taskset", ["-c", String(LOAD_CORE), "true"]).status === 0;

/** The command with which a command runs on a core; the command itself where that cannot be. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  return canPin ? ["taskset", "-c", String(core), ...command] : command;
}
