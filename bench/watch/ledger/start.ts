/** Starts the participant, which shares its core with the load. */
import { settingsFor } from "../../participants/start.js";
import { startChild } from "../../processes/child.js";
import { LOAD_CORE } from "../../processes/pinning.js";
import type { CommitCommand, Commits, LedgerOptions } from "./process.js";

const START_TIMEOUT_MS = 60_000;
/** A core that is too slow for the rate takes longer. */
const MAX_SLOWDOWN = 4;

export async function startLedger(options: LedgerOptions) {
  const child = await startChild<CommitCommand, Commits>({
    script: new URL("process.js", import.meta.url),
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  return {
    settings: settingsFor(child.started as string),
    commit: (command: CommitCommand) => child.ask(command, (command.seconds * MAX_SLOWDOWN + 10) * 1000),
    stop: () => child.stop(),
  };
}
