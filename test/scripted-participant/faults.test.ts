/** All faults, as a client sees them. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ParticipantClient } from "../../src/ledger/participant/client.js";
import { heap, keepCollecting } from "../fixtures/heap.js";
import { until } from "../fixtures/wait.js";
import { endpointAt, failureOf } from "../ledger/participant/servers.js";
import {
  ask,
  creation,
  Listener,
  snapshotRequest,
  describeUpdate,
  updateFormat,
  updatesRequest,
} from "./test-client.js";
import { refusal } from "./errors.js";
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
  await participant.close();
});

const updates = "/v2/updates";
const snapshot = "/v2/state/active-contracts";

function follow(begin = 0): Listener {
  const listener = new Listener(participant.url, updates, updatesRequest(begin));
  listeners.push(listener);
  return listener;
}

async function opened(begin?: number): Promise<Listener> {
  const { length } = participant.requests;
  const listener = follow(begin);
  await until("the stream has its request", () => participant.requests[length]?.body !== undefined);
  return listener;
}

describe("a stream ends", () => {
  test.each([
    ["cut", false],
    ["reset", true],
  ])("%s after so many messages", async (_, reset) => {
    participant.faults.cut({ after: 2, reset });
    const listener = follow();
    expect((await listener.ended).code).toBe(1006);
    expect(listener.texts).toHaveLength(2);
    const next = follow();
    expect(await next.receive(4)).toHaveLength(4);
  });

  test("before its first message", async () => {
    participant.faults.cut();
    const listener = follow();
    expect((await listener.ended).code).toBe(1006);
    expect(listener.texts).toEqual([]);
  });

  test("`times` times, each after the same number of messages", async () => {
    participant.faults.cut({ after: 1, times: 2 });
    for (const expected of [1, 1]) {
      const listener = follow();
      await listener.ended;
      expect(listener.texts).toHaveLength(expected);
    }
    await follow().receive(4);
  });

  test("in the order of the faults", async () => {
    participant.faults.cut({ after: 3 });
    participant.faults.error("SERVER_IS_SHUTTING_DOWN", { after: 1 });
    const [first, second] = [follow(), follow()];
    await Promise.all([first.ended, second.ended]);
    const counts = [first, second].map(({ texts }) => texts.length).toSorted((a, b) => a - b);
    expect(counts).toEqual([2, 3]);
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

  test("of one path only", async () => {
    participant.faults.cut({ path: snapshot, after: 1 });
    await follow().receive(4);
    const listener = new Listener(participant.url, snapshot, snapshotRequest(4));
    expect((await listener.ended).code).toBe(1006);
    expect(listener.texts).toHaveLength(1);
  });

  test("with an error as its last message", async () => {
    participant.faults.error("PARTICIPANT_BACKPRESSURE", { after: 1 });
    participant.faults.error(refusal("PERMISSION_DENIED", "not said"));
    const first = follow();
    expect((await first.ended).code).toBe(1000);
    expect(first.messages[1]).toMatchObject({ code: "PARTICIPANT_BACKPRESSURE", retryInfo: "1 second" });
    const second = follow();
    await second.ended;
    expect(second.messages).toMatchObject([{ code: "NA", errorCategory: -1, grpcCodeValue: 7, retryInfo: null }]);
  });

  test("with a code of its own", async () => {
    participant.faults.close({ after: 1 });
    participant.faults.close({ code: 1011 });
    const first = follow();
    expect((await first.ended).code).toBe(1001);
    expect(first.texts).toHaveLength(1);
    expect((await follow().ended).code).toBe(1011);
  });

  test("in the middle of a frame", async () => {
    participant.faults.halfFrame({ after: 1 });
    const listener = follow();
    expect((await listener.ended).code).toBe(1006);
    expect(listener.texts).toHaveLength(1);
  });
});

describe("a message", () => {
  test("is truncated JSON, and the stream continues", async () => {
    participant.faults.halfJson({ after: 1 });
    const listener = follow();
    await until("all have come", () => listener.texts.length === 4);
    expect(() => JSON.parse(listener.texts[1] ?? "") as unknown).toThrow(SyntaxError);
    expect(listener.texts[1]).toMatch(/^\{"update":\{"Transaction":/);
    expect(listener.texts[2]).toContain('"contractId":"c"');
  });

  test("is replaced, also on an open stream", async () => {
    const listener = await opened(4);
    participant.faults.garble((text) => text.replace('"createArgument"', '"arguments"'), { streams: "open", after: 1 });
    for (const id of ["e", "f", "g"]) ledger.transact([{ create: creation(id) }]);
    await listener.receive(3);
    expect(listener.texts.map((text) => text.includes('"arguments"'))).toEqual([false, true, false]);
  });

  test("waits, each one", async () => {
    participant.faults.delay(400);
    const begin = performance.now();
    await follow().receive(4);
    expect(performance.now() - begin).toBeGreaterThan(1_595);
    // The delay goes with the stream.
    const next = performance.now();
    await follow().receive(4);
    expect(performance.now() - next).toBeLessThan(1_595);
  });
});

describe("silence", () => {
  test("keeps the stream open, sends no messages, and answers pings", async () => {
    participant.faults.silence({ after: 2 });
    const listener = follow();
    await listener.receive(2);
    ledger.transact([{ create: creation("e") }]);
    listener.ping();
    await until("the ping is answered", () => listener.pongs === 1);
    await pause(30);
    expect(listener.texts).toHaveLength(2);
    expect(participant.streams).toBe(1);
  });

  test("optionally ignores pings", async () => {
    const listener = await opened(4);
    participant.faults.silence({ streams: "open", answersPings: false });
    ledger.checkpoint();
    listener.ping();
    await pause(50);
    expect(listener.pongs).toBe(0);
    expect(listener.texts).toEqual([]);
    expect(participant.streams).toBe(1);
  });

  test("lasts until the participant ends", async () => {
    participant.faults.silence({ answersPings: false });
    const listener = await opened(4);
    await participant.close();
    expect((await listener.ended).code).toBe(1006);
  });
});

test("the next stream begins with updates from before", async () => {
  participant.faults.duplicate(2);
  const listener = follow(3);
  expect((await listener.receive(3)).map(describeUpdate)).toEqual(["2 Transaction", "3 Transaction", "4 Transaction"]);
  const next = follow(3);
  expect((await next.receive(1)).map(describeUpdate)).toEqual(["4 Transaction"]);
});

test("a stream takes one fault of each type", async () => {
  participant.faults.duplicate(2);
  participant.faults.delay(5);
  participant.faults.halfJson({ after: 1 });
  participant.faults.cut({ after: 3 });
  const listener = follow(2);
  expect((await listener.ended).code).toBe(1006);
  expect(listener.texts).toHaveLength(3);
  expect(listener.texts[2]).toContain('"contractId":"c"');
});

const end = () => ask(`${participant.url}/v2/state/ledger-end`);

describe("calls are rejected", () => {
  test("with 503 or 429, `times` times", async () => {
    participant.faults.refuse(503, { times: 2 });
    participant.faults.refuse(429);
    expect(await end()).toMatchObject({
      status: 503,
      body: { code: "SERVER_IS_SHUTTING_DOWN", retryInfo: "1 second" },
    });
    expect((await end()).status).toBe(503);
    expect(await end()).toMatchObject({ status: 429, body: { code: "PARTICIPANT_BACKPRESSURE" } });
    expect((await end()).status).toBe(200);
    expect(participant.requests.map(({ status }) => status)).toEqual([503, 503, 429, 200]);
  });

  test("with an error of the test's choice", async () => {
    participant.faults.refuse(refusal("PARTICIPANT_BACKPRESSURE", "busy", { status: 429, retryInfo: "5 seconds" }));
    participant.faults.refuse("PARTICIPANT_PRUNED_DATA_ACCESSED");
    expect(await end()).toMatchObject({ status: 429, body: { cause: "busy", retryInfo: "5 seconds" } });
    expect(await end()).toMatchObject({ status: 400, body: { code: "PARTICIPANT_PRUNED_DATA_ACCESSED" } });
  });

  test("of one protocol or path only", async () => {
    participant.faults.refuse(503, { over: "websocket" });
    participant.faults.refuse(429, { path: "/v2/version" });
    expect((await end()).status).toBe(200);
    expect((await follow().ended).error).toBe("Unexpected server response: 503");
    expect((await ask(`${participant.url}/v2/version`)).status).toBe(429);
    await follow().receive(4);
  });

  test("with the page of a proxy", async () => {
    participant.faults.proxyError({ times: 2 });
    expect(await end()).toMatchObject({ status: 502, body: "<html><body><h1>502 Bad Gateway</h1></body></html>" });
    expect((await follow().ended).error).toBe("Unexpected server response: 502");
  });

  test("without an answer", async () => {
    participant.faults.hangUp({ times: 2 });
    await expect(end()).rejects.toThrow("fetch failed");
    expect((await follow().ended).error).toBe("socket hang up");
    expect((await end()).status).toBe(200);
  });

  test("until the faults are cleared", async () => {
    participant.faults.refuse(503, { times: 9 });
    participant.faults.cut();
    participant.faults.slowLedgerEnd(9000);
    participant.faults.clear();
    expect((await end()).status).toBe(200);
    await follow().receive(4);
  });
});

test("a slow ledger-end returns the end at the time of the request", async () => {
  participant.faults.slowLedgerEnd(60);
  const begin = performance.now();
  const answering = end();
  await until("the call has come", () => participant.requests.length === 1);
  ledger.checkpoint();
  expect((await answering).body).toEqual({ offset: 4 });
  expect(performance.now() - begin).toBeGreaterThan(55);
});

describe("no answer ever comes", () => {
  test("to a call and to an upgrade, whatever garbage is collected, until the participant stops", async () => {
    participant.faults.leaveUnanswered({ times: 2 });
    const answer = end().catch((error: unknown) => error);
    const listener = follow();
    await until("both have come", () => participant.requests.length === 2);
    let isOver = false;
    void Promise.race([answer, listener.ended]).then(() => (isOver = true));
    for (let collections = 0; collections < 3; collections++) {
      heap();
      await pause(10);
    }
    expect(isOver).toBe(false);
    expect((await ask(`${participant.url}/v2/version`)).status).toBe(200);
    await participant.stop();
    expect(await answer).toBeInstanceOf(TypeError);
    expect((await listener.ended).error).toBe("socket hang up");
  });

  test("and the client's own time limit ends its wait", async () => {
    participant.faults.leaveUnanswered({ times: 2 });
    const stopCollecting = keepCollecting();
    onTestFinished(stopCollecting);
    const endpoint = endpointAt(new URL(participant.url));
    const withLimits = { ...endpoint, timeouts: { answer: 300, open: 300 } };
    const client = new ParticipantClient(withLimits, ["operator::1220"], []);
    expect(await failureOf(client.ledgerEnd())).toMatchObject({ kind: "lost" });
    expect(await failureOf(client.updates(4))).toMatchObject({ kind: "lost" });
    stopCollecting();
    // On a machine under load an answer may take longer than these limits.
    expect(await new ParticipantClient(endpoint, ["operator::1220"], []).ledgerEnd()).toBe(4);
  });
});

test("the ledger's end is lower, never higher, and streams go on", async () => {
  const listener = await opened(4);
  participant.faults.lowerEnd(2, { times: 2 });
  participant.faults.lowerEnd(9);
  const ends = [await end(), await end(), await end(), await end()];
  expect(ends.map(({ body }) => body)).toEqual([2, 2, 4, 4].map((offset) => ({ offset })));
  ledger.checkpoint();
  expect((await listener.receive(1)).map(describeUpdate)).toEqual(["5 OffsetCheckpoint"]);
});

describe("checkpoints are withheld", () => {
  test("for a time, from an open stream, which shows updates", async () => {
    await participant.stop();
    participant = await Participant.start({ ledger, checkpointMs: 1 });
    const listener = await opened(4);
    await listener.receive(1);
    participant.faults.withholdCheckpoints({ ms: 400, streams: "open" });
    const begun = performance.now();
    ledger.checkpoint();
    ledger.elsewhere();
    ledger.transact([{ create: creation("e") }]);
    ledger.checkpoint();
    const messages = (await listener.receive(3)).map(describeUpdate);
    expect(messages).toEqual(["4 OffsetCheckpoint", "7 Transaction", "8 OffsetCheckpoint"]);
    // Both clocks may be rounded.
    expect(performance.now() - begun).toBeGreaterThan(395);
  });

  test("from the next stream, for 30 seconds by default", async () => {
    participant.faults.withholdCheckpoints();
    const listener = await opened(4);
    ledger.checkpoint();
    ledger.transact([{ create: creation("e") }]);
    expect((await listener.receive(1)).map(describeUpdate)).toEqual(["6 Transaction"]);
    const other = await opened(4);
    expect((await other.receive(2)).map(describeUpdate)).toEqual(["5 OffsetCheckpoint", "6 Transaction"]);
    expect(listener.texts).toHaveLength(1);
  });
});

test("a participant comes back empty: a lower end, another history, and no packages", async () => {
  const listener = await opened(4);
  const idOf = async (offset: number) => {
    const answer = await ask(`${participant.url}/v2/updates/update-by-offset`, {
      offset,
      updateFormat: updateFormat(),
    });
    return (answer.body as { update: { Transaction: { value: { updateId: string } } } }).update.Transaction.value
      .updateId;
  };
  const before = await idOf(1);
  ledger.prune(2);
  await participant.stop();
  expect((await listener.ended).code).toBe(1006);
  ledger.clear();
  participant = await Participant.start({ ledger, port: participant.port, packageNames: [] });
  expect((await end()).body).toEqual({ offset: 0 });
  expect((await ask(`${participant.url}/v2/state/latest-pruned-offsets`)).body).toMatchObject({
    participantPrunedUpToInclusive: 0,
  });
  const refused = follow();
  expect((await refused.ended).code).toBe(1000);
  expect(refused.messages).toMatchObject([{ code: "PACKAGE_NAMES_NOT_FOUND" }]);
  participant.upload("utility-registry-v0");
  ledger.transact([{ create: creation("a") }]);
  expect((await follow().receive(1)).map(describeUpdate)).toEqual(["1 Transaction"]);
  expect(await idOf(1)).not.toBe(before);
});
