/** Each fault, as a client meets it: a fault that did nothing would let other tests pass. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../fixtures/wait.js";
import { ask, creation, describeUpdate, Listener, updatesRequest } from "./test-client.js";
import { refusal } from "./errors.js";
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

async function opened(begin?: number): Promise<Listener> {
  const { length } = participant.requests;
  const listener = follow(begin);
  await until("the stream has its request", () => participant.requests[length]?.body !== undefined);
  return listener;
}

const end = () => ask(`${participant.url}/v2/state/ledger-end`);

describe("a stream ends", () => {
  const updates = "/v2/updates";
  test.each<[string, (faults: Faults) => void, number, number]>([
    ["by FIN, after so many messages", (faults) => faults.cut({ after: 2 }), 1006, 2],
    ["by RST", (faults) => faults.cut({ after: 1, reset: true, path: updates }), 1006, 1],
    ["before its first message", (faults) => faults.cut(), 1006, 0],
    ["within a frame", (faults) => faults.halfFrame({ after: 1 }), 1006, 1],
    ["with an error as its last message", (faults) => faults.error("PARTICIPANT_BACKPRESSURE", { after: 1 }), 1000, 2],
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

  test("while it is open, at once or after further messages", async () => {
    const listener = await opened(4);
    participant.faults.cut({ streams: "open", after: 1 });
    ledger.checkpoint();
    expect((await listener.ended).code).toBe(1006);
    expect(listener.messages.map(describeUpdate)).toEqual(["5 OffsetCheckpoint"]);
    const next = await opened(5);
    participant.faults.cut({ streams: "open" });
    expect((await next.ended).code).toBe(1006);
    await until("no stream is open", () => participant.streams === 0);
    expect(() => participant.faults.cut({ streams: "open" })).toThrow("no matching stream is open");
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

describe("calls are rejected", () => {
  test.each<[string, (faults: Faults) => void, object, string]>([
    ["503", (faults) => faults.refuse(503), { status: 503, body: { code: "SERVER_IS_SHUTTING_DOWN" } }, "503"],
    ["429", (faults) => faults.refuse(429), { status: 429, body: { code: "PARTICIPANT_BACKPRESSURE" } }, "429"],
    [
      "a proxy's page",
      (faults) => faults.proxyError(),
      { status: 502, body: expect.stringContaining("<html>") },
      "502",
    ],
    [
      "an error of the test's choice",
      (faults) => faults.refuse(refusal("PERMISSION_DENIED", "not said")),
      { status: 403, body: { code: "NA", errorCategory: -1, grpcCodeValue: 7 } },
      "403",
    ],
  ])("with %s, upgrades too, until they are cleared", async (_, inject, expected, status) => {
    inject(participant.faults);
    expect(await end()).toMatchObject(expected);
    inject(participant.faults);
    expect((await follow().ended).error).toBe(`Unexpected server response: ${status}`);
    inject(participant.faults);
    participant.faults.clear();
    expect(await end()).toEqual({ status: 200, type: "application/json", body: { offset: 4 } });
  });

  test("of one protocol or path only, so many times", async () => {
    participant.faults.refuse(503, { over: "websocket" });
    participant.faults.refuse(429, { path: "/v2/version", times: 2 });
    expect((await end()).status).toBe(200);
    expect((await follow().ended).error).toBe("Unexpected server response: 503");
    const statuses = [];
    for (let call = 0; call < 3; call++) statuses.push((await ask(`${participant.url}/v2/version`)).status);
    expect(statuses).toEqual([429, 429, 200]);
  });

  test("by a closed connection, or never answered until the participant stops", async () => {
    participant.faults.hangUp();
    await expect(end()).rejects.toThrow("fetch failed");
    participant.faults.leaveUnanswered({ times: 2 });
    const [unanswered, listener] = [end().catch(() => "cut"), follow()];
    await until("both have come", () => participant.requests.length === 3);
    expect((await end()).status).toBe(200);
    await participant.stop();
    expect([await unanswered, (await listener.ended).error]).toEqual(["cut", "socket hang up"]);
  });
});

test("a slow ledger-end answers with the end at the time of the request", async () => {
  participant.faults.slowLedgerEnd(100);
  const answering = end();
  await until("the call has come", () => participant.requests.length === 1);
  ledger.checkpoint();
  expect((await answering).body).toEqual({ offset: 4 });
});

test("a participant comes back empty: a lower end, another history, and no packages", async () => {
  ledger.prune(2);
  await participant.stop();
  ledger.clear();
  participant = await Participant.start({ ledger, port: participant.port, packageNames: [] });
  expect((await end()).body).toEqual({ offset: 0 });
  const refused = follow();
  await refused.ended;
  expect(refused.messages).toMatchObject([{ code: "PACKAGE_NAMES_NOT_FOUND" }]);
  participant.upload("utility-registry-v0");
  ledger.transact([{ create: creation("a") }]);
  expect((await follow().receive(1)).map(describeUpdate)).toEqual(["1 Transaction"]);
});
