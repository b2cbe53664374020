/** How fast a mirror takes updates into a database, and how soon a replica serves what was committed. */
import { setTimeout as delay } from "node:timers/promises";
import { seconds, size } from "../scale.js";
import type { startStreaming } from "../participants/start.js";
import { median, percentile, type Row } from "../report/row.js";
import { start, stopping } from "../servers/start.js";
import { accept } from "../serving/requests.js";
import { reached, within } from "../wait.js";
import type { Database } from "./server.js";

/** Before the measure, so that as many contracts go as come. */
const FIRST = 1_000;
const BURST = size(3_000);
/** Updates a second, and for how long, while it is measured how soon they are served. */
const RATE = 100;
const SECONDS = seconds(6);
/** Longest wait for all updates, and for one, in milliseconds. */
const PATIENCE_MS = 60_000;

type Participant = Awaited<ReturnType<typeof startStreaming>>;

export async function following(
  participant: Participant,
  database: Database,
  settings: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const burst = async (updates: number): Promise<number> => {
    const begun = performance.now();
    const { offset } = await participant.commit(updates);
    await reached(PATIENCE_MS, "updates in the database", async () => {
      const state = await database.query<{ is: boolean }>(
        `SELECT ledger_offset >= ${offset} AS is FROM offledger.state`,
      );
      return state?.is === true;
    });
    return updates / ((performance.now() - begun) / 1000);
  };
  await burst(FIRST);
  const alone = await burst(BURST);
  return stopping(async (keep) => {
    const roles = { mirrors: false, answers: true };
    const replica = await keep(start({ server: "offledger", settings, roles }));
    const followed = await burst(BURST);
    const delays = await trickle(participant, replica.url);
    const note = `${delays.length} samples at ${RATE} updates/s; asked for as soon as they are committed`;
    return [
      {
        what: "updates applied",
        figure: { value: alone, unit: "updates/s" },
        note: `${BURST} updates of four contracts, committed at once; ${Math.round(followed)}/s with a replica`,
      },
      { what: "commit to answer, median", figure: { value: median(delays), unit: "ms" }, note },
      { what: "commit to answer, 99th percentile", figure: { value: percentile(delays, 0.99), unit: "ms" }, note },
    ];
  });
}

/** How long it takes from the commits of offers until they are served, in milliseconds. */
async function trickle(participant: Participant, url: string): Promise<readonly number[]> {
  const delays: number[] = [];
  const asking: Promise<void>[] = [];
  const ask = async (offer: number, at: number): Promise<void> => {
    await reached(PATIENCE_MS, "an offer", () => isServed(url, offer));
    delays.push(performance.timeOrigin + performance.now() - at);
  };
  const begun = performance.now();
  for (let count = 0; count < RATE * SECONDS;) {
    const due = Math.min(RATE * SECONDS, Math.floor(((performance.now() - begun) / 1000) * RATE));
    if (due > count) {
      const { offer, at } = await participant.commit(due - count);
      asking.push(ask(offer, at));
      count = due;
    } else await delay(1);
  }
  await within(PATIENCE_MS, "the last updates", Promise.all(asking));
  return delays;
}

async function isServed(url: string, offer: number): Promise<boolean> {
  const [, path = ""] = accept(offer, true).toString().split(" ", 2);
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  return response.status === 200;
}
