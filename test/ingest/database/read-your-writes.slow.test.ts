/** A replica finds a contract that is on the ledger before the mirror has received it. */
import { expect, onTestFinished, test } from "vitest";
import { reject } from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { idsOf, Pairs, type Tag } from "./pairs.js";
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

test("a contract committed before the request is found, although the stream does not deliver it; one that is not is 404, without a mirror 503", async () => {
  const { pairs, participant, mirror, url, otherUrl } = await startSetup();
  participant.faults.silence({ streams: "open", path: "/v2/updates" });
  for (let turn = 0; turn < 10; turn++) {
    const { tags } = pairs.replace(turn % 3);
    const answers = await Promise.all([url, otherUrl, url].map((one) => offer(one, turn % 3, tags[turn % 3])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
  expect((await offer(url, 0)).status).toBe(404);
  await mirror.close();
  const { status, took, body } = await offer(url, 0);
  expect([status, body.error]).toEqual([503, NOT_REACHED]);
  expect(took).toBeLessThan(BOUND_MS);
});
