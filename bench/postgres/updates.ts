/** How fast updates are written to a database, and how soon a replica serves them. */
import { setTimeout as delay } from "node:timers/promises";
import type { startStreaming } from "../participants/start.js";
import { withResources } from "../processes/resources.js";
import { median, percentile, type Row } from "../report/row.js";
import { scaleCount, scaleSeconds } from "../scale.js";
import { startServer } from "../servers/start.js";
import { isOfferServed } from "../serving/is-offer-served.js";
import { pollUntil, withTimeout } from "../wait.js";
import type { Database } from "./server.js";

const WARM_UP_UPDATES = 1_000;
const BURST = scaleCount(3_000);
const RATE = 100;
const SECONDS = scaleSeconds(6);
const TIMEOUT_MS = 60_000;

type Participant = Awaited<ReturnType<typeof startStreaming>>;

export async function measureUpdates(
  participant: Participant,
  database: Database,
  settings: Readonly<Record<string, string>>,
): Promise<Row[]> {
  await applyBurst(participant, database, WARM_UP_UPDATES);
  const withoutReplica = await applyBurst(participant, database, BURST);
  return withResources(async (keep) => {
    const roles = { mirrors: false, answers: true };
    const replica = await keep(startServer({ server: "offledger", settings, roles }));
    const withReplica = await applyBurst(participant, database, BURST);
    const delays = await measureDelays(participant, replica.url);
    const note = `${delays.length} samples at ${RATE} updates/s; requested from the moment of the commit on`;
    return [
      {
        title: "update throughput",
        figure: { value: withoutReplica, unit: "updates/s" },
        note: `${BURST} updates of four contracts, committed at once; ${Math.round(withReplica)}/s with a replica`,
      },
      { title: "commit to response, median", figure: { value: median(delays), unit: "ms" }, note },
      { title: "commit to response, p99", figure: { value: percentile(delays, 0.99), unit: "ms" }, note },
    ];
  });
}

async function applyBurst(participant: Participant, database: Database, updates: number): Promise<number> {
  const startedAt = performance.now();
  const { offset } = await participant.commit(updates);
  await pollUntil(TIMEOUT_MS, "updates are in the database", async () => {
    const state = await database.query<{ isApplied: boolean }>(
      `SELECT ledger_offset >= ${offset} AS "isApplied" FROM offledger.state`,
    );
    return state?.isApplied === true;
  });
  return updates / ((performance.now() - startedAt) / 1000);
}

/** Milliseconds from the commits of offers until the replica serves them. */
async function measureDelays(participant: Participant, url: string): Promise<readonly number[]> {
  const delays: number[] = [];
  const polls: Promise<void>[] = [];
  const poll = async (offer: number, at: number): Promise<void> => {
    await pollUntil(TIMEOUT_MS, "an offer is served", () => isOfferServed(url, offer));
    delays.push(performance.timeOrigin + performance.now() - at);
  };
  const startedAt = performance.now();
  for (let count = 0; count < RATE * SECONDS;) {
    const due = Math.min(RATE * SECONDS, Math.floor(((performance.now() - startedAt) / 1000) * RATE));
    if (due > count) {
      const { offer, at } = await participant.commit(due - count);
      polls.push(poll(offer, at));
      count = due;
    } else await delay(1);
  }
  await withTimeout(TIMEOUT_MS, "the last updates are served", Promise.all(polls));
  return delays;
}
