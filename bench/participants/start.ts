/** Starts participants, which share a core with the load. */
import { startChild } from "../processes/child.js";
import { LOAD_CORE } from "../processes/pinning.js";
import { provider } from "../registries/services.js";
import type { Scripted, Trickle } from "./scripted.js";
import type { Sent, Streaming } from "./streaming.js";

/** To play a hundred thousand contracts takes some seconds. */
const BEGIN_MS = 120_000;
/** The settings of a service that follows it; the provider sees every contract. */
const settingsOf = (url: string) => ({ OFFLEDGER_LEDGER_URL: url, OFFLEDGER_LEDGER_PARTIES: provider });

/** The scripted participant of the tests. */
export async function startScripted(toBe: Scripted) {
  const child = await startChild<Trickle, number>(new URL("scripted.js", import.meta.url), LOAD_CORE, toBe, BEGIN_MS);
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
  const child = await startChild<"sent", Sent>(new URL("streaming.js", import.meta.url), LOAD_CORE, toBe, BEGIN_MS);
  const url = child.begun as string;
  return { settings: settingsOf(url), sent: () => child.ask("sent"), stop: () => child.stop() };
}
