/** Starts participants, which share a core with the load. */
import { startChild } from "../processes/child.js";
import { LOAD_CORE } from "../processes/pinning.js";
import { provider } from "../registries/services.js";
import type { Scripted, Trickle } from "./scripted-process.js";
import type { Commit, Committed, Sent, Streaming } from "./streaming-process.js";

/** To play a hundred thousand contracts takes some seconds. */
const BEGIN_MS = 120_000;
/** The settings of a service that follows it; the provider sees every contract. */
const settingsOf = (url: string) => ({ OFFLEDGER_LEDGER_URL: url, OFFLEDGER_LEDGER_PARTIES: provider });

/** The scripted participant of the tests. */
export async function startScripted(toBe: Scripted) {
  const child = await startChild<Trickle, number>(new URL("scripted-process.js", import.meta.url), LOAD_CORE, toBe, BEGIN_MS);
  const url = child.begun as string;
  return {
    url,
    settings: settingsOf(url),
    /** Commits updates; gives the number of the last offer. */
    trickle: (how: Trickle) => child.ask(how, how.seconds * 2_000 + 10_000),
    stop: () => child.stop(),
  };
}

/** A participant that makes its contracts as it sends them. */
export async function startStreaming(toBe: Streaming) {
  const script = new URL("streaming-process.js", import.meta.url);
  const child = await startChild<"sent" | Commit, Sent | Committed>(script, LOAD_CORE, toBe, BEGIN_MS);
  return {
    settings: settingsOf(child.begun as string),
    // What comes back is what was asked for.
    sent: async () => (await child.ask("sent")) as Sent,
    /** Commits updates at once, and tells of the last. */
    commit: async (commit: number) => (await child.ask({ commit })) as Committed,
    stop: () => child.stop(),
  };
}
