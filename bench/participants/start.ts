/** Starts participants, which share a core with the load. */
import { startChild } from "../processes/child.js";
import { LOAD_CORE } from "../processes/pinning.js";
import { provider } from "../registries/services.js";
import type { ScriptedOptions, TrickleCommand } from "./scripted-process.js";
import type { CommitCommand, Committed, SnapshotSize, StreamingOptions } from "./streaming-process.js";

const START_TIMEOUT_MS = 120_000;

export const settingsFor = (url: string) => ({ OFFLEDGER_LEDGER_URL: url, OFFLEDGER_LEDGER_PARTIES: provider });

export async function startScripted(options: ScriptedOptions) {
  const script = new URL("scripted-process.js", import.meta.url);
  const child = await startChild<TrickleCommand, number>({
    script,
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  const url = child.started as string;
  return {
    url,
    settings: settingsFor(url),
    trickle: (command: TrickleCommand) => child.ask(command, command.seconds * 2_000 + 10_000),
    stop: () => child.stop(),
  };
}

export async function startStreaming(options: StreamingOptions) {
  const script = new URL("streaming-process.js", import.meta.url);
  const child = await startChild<"sent" | CommitCommand, SnapshotSize | Committed>({
    script,
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  return {
    settings: settingsFor(child.started as string),
    // The reply has the type of the question.
    sent: async () => (await child.ask("sent")) as SnapshotSize,
    commit: async (commit: number) => (await child.ask({ commit })) as Committed,
    stop: () => child.stop(),
  };
}
