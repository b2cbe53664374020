/** Ingestion from a participant: snapshot, updates, and the time from commit to response. */
import { setTimeout as delay } from "node:timers/promises";
import { BuiltService } from "../test/fixtures/built-service.js";
import { parties } from "../test/fixtures/elements.js";
import { until, within } from "../test/fixtures/wait.js";
import type { Commit, Committed, ParticipantOptions } from "./participant.js";
import { startChild, withResources } from "./processes.js";
import { FIXED_CONTRACTS, isServed } from "./registry.js";
import { quantile, type Row } from "./table.js";

export const OFFERS = 20_000;
export const CONTRACTS = 2 * OFFERS + FIXED_CONTRACTS;
const BURSTS = 5;
const BURST = 2_000;
/** A rate that leaves two cores idle for the most part: at five times it all processes together use them up. */
const RATE = 20;
const SECONDS = 15;
const TIMEOUT_MS = 240_000;
/** PostgreSQL vacuums and checkpoints what was written at once: that is the cost of the write, not of what follows. */
export const SETTLE_MS = 10_000;

export async function startParticipant() {
  const child = await startChild(new URL("participant.ts", import.meta.url), {
    offers: OFFERS,
  } satisfies ParticipantOptions);
  const settings: Readonly<Record<string, string>> = {
    OFFLEDGER_LEDGER_URL: child.url,
    OFFLEDGER_LEDGER_PARTIES: parties.operator,
  };
  const commit = (count: number) => child.ask<Committed>({ commit: count } satisfies Commit);
  return { settings, commit, stop: () => child.stop() };
}

export type RunningParticipant = Awaited<ReturnType<typeof startParticipant>>;

export async function measureMirror(): Promise<Row[]> {
  return withResources(async (keep) => {
    const participant = await keep(startParticipant());
    const startedAt = performance.now();
    const service = await keep(BuiltService.start({ settings: participant.settings }));
    const seconds = await secondsUntilReady(service, startedAt);
    const { rss } = await service.usage();
    return [
      { title: "snapshot", unit: "contracts/s", values: [CONTRACTS / seconds] },
      { title: `resident set with ${CONTRACTS.toLocaleString("en-US")} contracts`, unit: "MB", values: [rss / 1e6] },
      ...(await measureUpdates(participant, service.url)),
    ];
  });
}

export async function secondsUntilReady(
  service: BuiltService,
  startedAt: number,
  timeoutMs = TIMEOUT_MS,
): Promise<number> {
  await until("the snapshot is served", () => service.isReady(), timeoutMs);
  return (performance.now() - startedAt) / 1000;
}

/** How fast updates are served that are committed at once, and how soon those that are committed one by one. */
export async function measureUpdates(participant: RunningParticipant, url: string): Promise<Row[]> {
  const rates: number[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const startedAt = performance.now();
    const { offer } = await participant.commit(BURST);
    await until("the last update is served", () => isServed(url, offer), TIMEOUT_MS);
    rates.push(BURST / ((performance.now() - startedAt) / 1000));
  }
  await delay(SETTLE_MS);
  const delays = await measureDelays(participant, url);
  return [
    { title: "updates of four contracts, at once", unit: "updates/s", values: rates },
    { title: `commit to response at ${RATE} updates/s, median`, unit: "ms", values: [quantile(delays, 0.5)] },
    { title: `commit to response at ${RATE} updates/s, p99`, unit: "ms", values: [quantile(delays, 0.99)] },
  ];
}

/** Milliseconds from the commits of offers until they are served. They are requested from the commit on. */
async function measureDelays(participant: RunningParticipant, url: string): Promise<readonly number[]> {
  const delays: number[] = [];
  const polls: Promise<void>[] = [];
  const poll = async ({ offer, at }: Committed): Promise<void> => {
    await until("an offer is served", () => isServed(url, offer), TIMEOUT_MS);
    delays.push(performance.timeOrigin + performance.now() - at);
  };
  const startedAt = performance.now();
  for (let count = 0; count < RATE * SECONDS;) {
    const due = Math.min(RATE * SECONDS, Math.floor(((performance.now() - startedAt) / 1000) * RATE));
    if (due > count) polls.push(poll(await participant.commit(due - count)));
    else await delay(1);
    count = due;
  }
  await within(TIMEOUT_MS, "the last updates are served", Promise.all(polls));
  return delays;
}
