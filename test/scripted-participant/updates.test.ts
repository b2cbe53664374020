/** Updates, live and bounded, as a stream and as a list. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { until } from "../fixtures/wait.js";
import { ask, creation, Listener, describeUpdate, updateFormat, updatesRequest } from "./test-client.js";
import type { CheckpointMs } from "./checkpoints.js";
import { ScriptedLedger } from "./ledger.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
const listeners: Listener[] = [];
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger, listLimit: 3, checkpointMs: 30 });
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.end();
  await participant.close();
});

const path = "/v2/updates";

function follow(request: object = updatesRequest(ledger.end)): Listener {
  const listener = new Listener(participant.url, path, request);
  listeners.push(listener);
  return listener;
}

/** All messages of a finite stream. */
async function receiveAll(request: object): Promise<readonly JsonObject[]> {
  const listener = follow(request);
  expect(await listener.ended).toEqual({ code: 1000, error: undefined });
  return listener.messages;
}

test("an open stream sends updates from its begin offset, and stays open", async () => {
  ledger.transact([{ create: creation("before") }]);
  ledger.transact([{ create: creation("a") }]);
  const listener = follow(updatesRequest(1));
  await listener.receive(1);
  ledger.transact([{ archive: "a" }, { create: creation("b") }]);
  await until("both are there", () => listener.texts.some((text) => text.includes('"contractId":"b"')));
  const messages = listener.messages.filter((message) => describeUpdate(message).endsWith("Transaction"));
  expect(messages.map(describeUpdate)).toEqual(["2 Transaction", "3 Transaction"]);
  expect(messages[1]).toEqual({
    update: {
      Transaction: {
        value: {
          updateId: expect.stringMatching(/^1220[0-9a-f]{64}$/) as string,
          commandId: "",
          workflowId: "",
          effectiveAt: "2026-01-05T09:00:03.000417Z",
          events: [
            {
              ArchivedEvent: {
                offset: 3,
                nodeId: 0,
                contractId: "a",
                templateId: "pkg-1:Utility.Registry.V0.Rule.Transfer:TransferRule",
                witnessParties: ["operator::1220"],
                packageName: "utility-registry-v0",
                implementedInterfaces: [],
              },
            },
            { CreatedEvent: expect.objectContaining({ offset: 3, nodeId: 1, contractId: "b" }) as object },
          ],
          offset: 3,
          synchronizerId: "A::1220",
          traceContext: expect.any(Object) as object,
          recordTime: "2026-01-05T09:00:03.000417Z",
          externalTransactionHash: null,
          paidTrafficCost: 0,
        },
      },
    },
  });
});

test("reassignments, each with all its events", async () => {
  ledger.transact([{ create: creation("a") }, { create: creation("b") }]);
  ledger.unassign(["a", "b"], "B::1220");
  ledger.assign(["a", "b"]);
  const [left, arrived] = await receiveAll(updatesRequest(1, 3));
  const moved = { source: "A::1220", target: "B::1220", reassignmentCounter: 1 };
  expect(left).toMatchObject({
    update: {
      Reassignment: {
        value: {
          offset: 2,
          synchronizerId: "A::1220",
          events: [
            { JsUnassignedEvent: { value: { ...moved, contractId: "a", offset: 2, nodeId: 0 } } },
            { JsUnassignedEvent: { value: { ...moved, contractId: "b", offset: 2, nodeId: 1 } } },
          ],
        },
      },
    },
  });
  expect(arrived).toMatchObject({
    update: {
      Reassignment: {
        value: {
          offset: 3,
          synchronizerId: "B::1220",
          events: [
            { JsAssignmentEvent: { ...moved, createdEvent: { contractId: "a", offset: 3, nodeId: 0 } } },
            { JsAssignmentEvent: { ...moved, createdEvent: { contractId: "b", offset: 3, nodeId: 1 } } },
          ],
        },
      },
    },
  });
  const ids = [left, arrived].map((update) => /"reassignmentId":"(\w+)"/.exec(JSON.stringify(update))?.[1]);
  expect(ids[0]).toBe(ids[1]);
});

test("invisible updates are not sent, but a later checkpoint has their offset", async () => {
  const listener = follow();
  await until("the stream is open", () => participant.streams === 1);
  ledger.transact([{ create: creation("a", { signatories: ["bob::1220"], observers: [] }) }]);
  ledger.elsewhere();
  ledger.topology("bob::1220");
  const [message] = await listener.receive(1);
  expect(message).toEqual({
    update: {
      OffsetCheckpoint: {
        value: {
          offset: 3,
          synchronizerTimes: [{ synchronizerId: "A::1220", recordTime: "2026-01-05T09:00:03.000417Z" }],
        },
      },
    },
  });
});

test("checkpoints come in order", async () => {
  ledger.checkpoint();
  ledger.transact([{ create: creation("a") }]);
  ledger.checkpoint();
  expect((await receiveAll(updatesRequest(0, 3))).map(describeUpdate)).toEqual([
    "1 OffsetCheckpoint",
    "2 Transaction",
    "3 OffsetCheckpoint",
  ]);
});

const topology = (parties: readonly string[]) => ({
  includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties } },
});

/** What the first three updates are in a format. */
async function forms(format: object): Promise<string[]> {
  const messages = await receiveAll({ beginExclusive: 0, endInclusive: 3, updateFormat: format });
  return messages.map(describeUpdate);
}

test("only requested updates are sent", async () => {
  ledger.transact([{ create: creation("a") }]);
  ledger.unassign("a", "B::1220");
  ledger.topology("carol::1220");
  const { includeTransactions, includeReassignments } = updateFormat();
  expect(await forms({ includeTransactions })).toEqual(["1 Transaction"]);
  expect(await forms({ includeReassignments })).toEqual(["2 Reassignment"]);
  expect(await forms(topology([]))).toEqual(["3 TopologyTransaction"]);
  expect(await forms(topology(["carol::1220"]))).toEqual(["3 TopologyTransaction"]);
  expect(await forms(topology(["dave::1220"]))).toEqual([]);
});

test("an end offset without an update ends the stream too", async () => {
  ledger.transact([{ create: creation("a") }], { offset: 5 });
  ledger.transact([{ create: creation("b") }], { offset: 9 });
  expect((await receiveAll(updatesRequest(0, 7))).map(describeUpdate)).toEqual(["5 Transaction"]);
});

const list = (request: object, query = "") => ask(participant.url + path + query, request);

test("a list has the present updates", async () => {
  for (const id of ["a", "b", "c"]) ledger.transact([{ create: creation(id) }]);
  expect((await list(updatesRequest(0))).body).toHaveLength(3);
  expect((await list(updatesRequest(1, 2))).body).toHaveLength(1);
  expect((await list(updatesRequest(0), "?limit=2&stream_idle_timeout_ms=5")).body).toHaveLength(2);
  ledger.checkpoint();
  expect(await list(updatesRequest(0))).toMatchObject({
    status: 413,
    body: { code: "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED" },
  });
});

describe("invalid offsets", () => {
  beforeEach(() => {
    for (let count = 0; count < 5; count++) ledger.checkpoint();
    ledger.prune(3);
  });

  test.each<[string, object, object]>([
    ["before the pruned offset", updatesRequest(2), { code: "PARTICIPANT_PRUNED_DATA_ACCESSED", grpcCodeValue: 9 }],
    ["beyond the end", updatesRequest(6), { code: "OFFSET_AFTER_LEDGER_END", errorCategory: 12, grpcCodeValue: 11 }],
    ["an end beyond the end", updatesRequest(4, 6), { code: "OFFSET_AFTER_LEDGER_END" }],
    ["an end before the begin", updatesRequest(4, 3), { code: "OFFSET_OUT_OF_RANGE" }],
    ["no format", { beginExclusive: 4 }, { code: "INVALID_ARGUMENT" }],
  ])("%s", async (_, request, error) => {
    expect(await receiveAll(request)).toMatchObject([error]);
    expect(await ask(participant.url + path, request)).toMatchObject({ status: 400, body: error });
  });

  test("the pruned offset itself can, and so can the end", async () => {
    expect((await receiveAll(updatesRequest(3, 5))).map(describeUpdate)).toEqual([
      "4 OffsetCheckpoint",
      "5 OffsetCheckpoint",
    ]);
    const listener = follow(updatesRequest(5));
    await until("the stream is open", () => participant.streams === 1);
    ledger.checkpoint();
    expect((await listener.receive(1)).map(describeUpdate)).toEqual(["6 OffsetCheckpoint"]);
  });
});

test("a restore cuts the stream; a begin offset before it is still valid, one after it is not", async () => {
  ledger.transact([{ create: creation("a") }]);
  ledger.transact([{ create: creation("b") }]);
  const listener = follow(updatesRequest(0));
  await listener.receive(2);
  ledger.restore(1);
  expect(await listener.ended).toMatchObject({ code: 1006 });
  expect(await receiveAll(updatesRequest(2))).toMatchObject([{ code: "OFFSET_AFTER_LEDGER_END" }]);
  ledger.transact([{ create: creation("c") }]);
  const again = await receiveAll(updatesRequest(0, 2));
  expect(JSON.stringify(again)).toContain('"contractId":"c"');
  expect(JSON.stringify(again)).not.toContain('"contractId":"b"');
});

test("a stream that reads pruned updates ends with an error", async () => {
  ledger.checkpoint();
  participant.faults.delay(50);
  const listener = follow(updatesRequest(0));
  await until("the stream is open", () => participant.streams === 1);
  for (let count = 0; count < 400; count++) ledger.checkpoint();
  participant.faults.delay(0, { streams: "open" });
  ledger.prune(401);
  expect(await listener.ended).toMatchObject({ code: 1000 });
  expect(listener.messages.at(-1)).toMatchObject({ code: "PARTICIPANT_PRUNED_DATA_ACCESSED" });
});

test("concurrent streams get the same updates, each at its own pace", async () => {
  const all = Array.from({ length: 5 }, () => follow(updatesRequest(0)));
  await until("all are open", () => participant.streams === 5);
  for (let count = 0; count < 600; count++) ledger.transact([{ create: creation(`c${count}`) }]);
  for (const listener of all) {
    await until("all are there", () => listener.texts.some((text) => text.includes('"offset":600,')));
    const transactions = listener.messages.map(describeUpdate).filter((update) => update.endsWith("Transaction"));
    expect(transactions).toEqual(Array.from({ length: 600 }, (_, index) => `${index + 1} Transaction`));
  }
});

/** Restarts with the offsets of a real participant, and follows. */
async function open(checkpointMs: CheckpointMs, silenceMs?: number): Promise<Listener> {
  await participant.stop();
  ledger = new ScriptedLedger();
  ledger.transact([{ create: creation("a") }]);
  participant = await Participant.start({ ledger, checkpointMs, ...(silenceMs === undefined ? {} : { silenceMs }) });
  const listener = follow(updatesRequest(0));
  await listener.receive(1);
  return listener;
}

describe("the offsets of a real participant", () => {
  test("a transaction takes three, and is delivered at the first", async () => {
    const listener = await open({});
    expect(ledger.transact([{ create: creation("b") }])).toBe(4);
    expect(ledger.end).toBe(6);
    expect((await listener.receive(2)).map(describeUpdate)).toEqual(["1 Transaction", "4 Transaction"]);
  });

  test("the others, and transactions of others, are told by checkpoints only: after opening, and apart", async () => {
    const listener = await open({ opening: 100, traffic: 400, idle: 60_000 });
    expect((await listener.receive(2)).map(describeUpdate)).toEqual(["1 Transaction", "3 OffsetCheckpoint"]);
    const began = performance.now();
    const end = participant.trafficOfOthers(50);
    await listener.receive(4);
    expect(performance.now() - began).toBeGreaterThan(750);
    end();
    const [, , ...checkpoints] = listener.messages.map(describeUpdate);
    for (const checkpoint of checkpoints) expect(checkpoint).toMatch(/^\d+ OffsetCheckpoint$/);
  });

  test("an idle ledger is told after a longer time, once", async () => {
    const listener = await open({ opening: 0, traffic: 60_000, idle: 200 });
    await listener.receive(2);
    ledger.elsewhere();
    const began = performance.now();
    expect((await listener.receive(3)).map(describeUpdate)[2]).toBe("6 OffsetCheckpoint");
    expect(performance.now() - began).toBeGreaterThan(150);
    await pause(300);
    expect(listener.texts).toHaveLength(3);
  });

  test("a bounded stream closes at its end at once, though nothing is shown", async () => {
    await open({});
    ledger.elsewhere();
    expect(await receiveAll(updatesRequest(1, ledger.end))).toEqual([]);
    expect((await receiveAll(updatesRequest(0, 2))).map(describeUpdate)).toEqual(["1 Transaction"]);
    expect(await receiveAll(updatesRequest(1, ledger.end + 1))).toMatchObject([{ code: "OFFSET_AFTER_LEDGER_END" }]);
  });

  test("a silent connection is reset; one that pings is not", async () => {
    const silent = await open({}, 300);
    const pinging = follow(updatesRequest(0));
    const timer = setInterval(() => pinging.ping(), 50);
    expect((await silent.ended).code).toBe(1006);
    await pause(300);
    clearInterval(timer);
    expect(participant.streams).toBe(1);
  });
});
