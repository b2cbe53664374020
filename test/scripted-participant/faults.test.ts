/** Faults that other tests do not notice where they do nothing; what others wait for is shown there. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../fixtures/wait.js";
import { ask, creation, Listener, updatesRequest } from "./test-client.js";
import type { Faults } from "./faults.js";
import { ScriptedLedger } from "./ledger.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
const listeners: Listener[] = [];
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1 });
  for (const id of ["a", "b", "c", "d"]) ledger.transact([{ create: creation(id) }]);
  participant = await Participant.start({ ledger });
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.end();
  await participant.stop();
});

function follow(begin = 0): Listener {
  const listener = new Listener(participant.url, "/v2/updates", updatesRequest(begin));
  listeners.push(listener);
  return listener;
}

const end = () => ask(`${participant.url}/v2/state/ledger-end`);

describe("a stream ends", () => {
  const updates = "/v2/updates";
  test.each<[string, (faults: Faults) => void, number, number]>([
    ["by RST, after so many messages", (faults) => faults.cut({ after: 1, reset: true, path: updates }), 1006, 1],
    ["within a frame", (faults) => faults.halfFrame({ after: 1 }), 1006, 1],
    ["with a code", (faults) => faults.close({ after: 1 }), 1001, 1],
  ])("%s, and the next does not", async (_, inject, code, count) => {
    inject(participant.faults);
    const listener = follow();
    expect((await listener.ended).code).toBe(code);
    expect(listener.texts).toHaveLength(count);
    await follow().receive(4);
  });

  test("`times` times, each after the same number of messages; of the other path not at all", async () => {
    participant.faults.cut({ after: 1, times: 2 });
    participant.faults.cut({ path: "/v2/state/active-contracts" });
    for (let time = 0; time < 2; time++) {
      const listener = follow();
      await listener.ended;
      expect(listener.texts).toHaveLength(1);
    }
    await follow().receive(4);
  });
});

describe("a stream", () => {
  test("takes one fault of each type: delays, half a message, updates from before, and an end", async () => {
    participant.faults.duplicate(2);
    participant.faults.delay(5);
    participant.faults.halfJson({ after: 1 });
    participant.faults.cut({ after: 4 });
    const listener = follow(2);
    expect((await listener.ended).code).toBe(1006);
    expect(listener.texts).toHaveLength(4);
    expect(() => JSON.parse(listener.texts[1] ?? "") as unknown).toThrow(SyntaxError);
    const ids = listener.texts.map((text) => /"contractId":"(\w)"/.exec(text)?.[1]);
    expect([ids[0], ids[2], ids[3]]).toEqual(["a", "c", "d"]);
  });

  test.each([true, false])("is silent, and answers pings: %s", async (answersPings) => {
    participant.faults.silence({ after: 2, answersPings });
    const listener = follow();
    await listener.receive(2);
    listener.ping();
    if (answersPings) await until("the ping is answered", () => listener.pongs === 1);
    ledger.transact([{ create: creation("e") }]);
    // An answer to a later call: the update would have come.
    await end();
    expect([listener.texts.length, listener.pongs, participant.streams]).toEqual([2, answersPings ? 1 : 0, 1]);
  });
});
