/** A replica finds a contract that is on the ledger before the mirror has received it. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { reject } from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { idsOf, Pairs, type Tag } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { type Answer, ask, becomesReady, MIRROR, onLedger, REPLICA } from "./services.js";

const READ_WAIT_MS = 3_000;
/** Allowance for the request to the mirror and for a busy machine. */
const BOUND_MS = READ_WAIT_MS + 500 + 3_000;

const NOT_REACHED = "the request names a contract that is not known yet, and the ledger is not reached in time";

/** A mirror and two replicas, on a participant that others use, too. */
async function startSetup() {
  const pairs = new Pairs(10);
  const { participant, start } = await onLedger(pairs);
  const more = { readWaitMs: READ_WAIT_MS };
  const mirror = await start(MIRROR, more);
  const [{ url }, { url: otherUrl }] = [await start(REPLICA, more), await start(REPLICA, more)];
  await until("the updates are followed", () => participant.streams === 1);
  await Promise.all([url, otherUrl].map(becomesReady));
  const traffic = setInterval(() => pairs.ledger.elsewhere(), 50);
  onTestFinished(() => clearInterval(traffic));
  return { pairs, participant, mirror, url, otherUrl };
}

const offer = (url: string, pair: number, tag: Tag = "0.0"): Promise<Answer> =>
  ask(url + reject(idsOf(pair, tag).offer), "POST");

test("a contract committed before the request is found, although the mirror's stream does not deliver it", async () => {
  const { pairs, participant, url, otherUrl } = await startSetup();
  participant.faults.silence({ streams: "open", path: "/v2/updates" });
  for (let turn = 0; turn < 10; turn++) {
    const { tags } = pairs.replace(turn % 3);
    const answers = await Promise.all([url, otherUrl, url].map((one) => offer(one, turn % 3, tags[turn % 3])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
});

test("an unknown contract is 404 when the mirror has caught up, for concurrent requests too", async () => {
  const { pairs, url } = await startSetup();
  expect((await offer(url, 0)).status).toBe(404);
  const many = await Promise.all(Array.from({ length: 50 }, (_, turn) => offer(url, turn)));
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([404]));
  // The ledger changes without creating the requested contract.
  pairs.replace(1);
  expect((await offer(url, 0)).status).toBe(404);
});

test("without a mirror, an unknown contract is 503 within the wait, for concurrent requests too", async () => {
  const { pairs, mirror, url } = await startSetup();
  await mirror.close();
  const { tags } = pairs.replace(0);
  const first = offer(url, 0, tags[0]);
  await delay(100);
  const second = offer(url, 5);
  await delay(100);
  const third = offer(url, 4);
  for (const { status, took, body } of await Promise.all([first, second, third])) {
    expect([status, body.error]).toEqual([503, NOT_REACHED]);
    expect(took).toBeGreaterThan(READ_WAIT_MS / 2);
    expect(took).toBeLessThan(BOUND_MS);
  }
  // Known contracts are still answered.
  expect((await askConfigurations(url, pairs)).status).toBe(200);
});

test("a contract that is archived is 404 at once", async () => {
  const { pairs, participant, url, otherUrl } = await startSetup();
  const [before = "0.0"] = pairs.now.tags;
  expect((await offer(url, 0, before)).status).toBe(200);
  const { tags } = pairs.replace(0);
  for (const one of [url, otherUrl]) expect((await offer(one, 0, tags[0])).status).toBe(200);
  participant.faults.slowLedgerEnd(3 * READ_WAIT_MS, { times: 100 });
  for (const one of [url, otherUrl, url]) {
    const { status, took } = await offer(one, 0, before);
    expect(status).toBe(404);
    expect(took).toBeLessThan(READ_WAIT_MS / 2);
  }
});
