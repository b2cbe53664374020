/** Snapshots and updates as streams, where test/fidelity has no recording of them. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { until } from "../fixtures/wait.js";
import { creation, describeUpdate, Listener, snapshotRequest, updateFormat, updatesRequest } from "./test-client.js";
import { ScriptedLedger } from "./ledger.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
const listeners: Listener[] = [];
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger, checkpointMs: 30 });
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.end();
  await participant.stop();
});

function follow(request: object = updatesRequest(ledger.end)): Listener {
  const path = "activeAtOffset" in request ? "/v2/state/active-contracts" : "/v2/updates";
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

const updatesOf = async (request: object) => (await receiveAll(request)).map(describeUpdate);

/** Elements in short: form, contract, offset of the created event, and the counter of an active one. */
async function elements(request: object = snapshotRequest(ledger.end)): Promise<string[]> {
  return (await receiveAll(request)).map((element) => {
    const text = JSON.stringify(element.contractEntry);
    const [, form] = /"(Js\w+)"/.exec(text) ?? [];
    const [, offset, id] = /"createdEvent":\{"offset":(\d+),"nodeId":\d+,"contractId":"(\w+)"/.exec(text) ?? [];
    const [, counter] = /"reassignmentCounter":(\d+)/.exec(text) ?? [];
    return `${form} ${id} ${offset} ${counter}`;
  });
}

describe("a snapshot", () => {
  test("is of any offset that is not pruned", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.transact([{ create: creation("b") }]);
    ledger.transact([{ archive: "a" }]);
    const both = ["JsActiveContract a 1 0", "JsActiveContract b 2 0"];
    expect(await elements(snapshotRequest(0))).toEqual([]);
    expect(await elements(snapshotRequest(3))).toEqual(["JsActiveContract b 2 0"]);
    ledger.prune(2);
    expect(await elements(snapshotRequest(2))).toEqual(both);
    const pruned = { code: "PARTICIPANT_PRUNED_DATA_ACCESSED", context: { earliest_offset: "2" } };
    expect(await receiveAll(snapshotRequest(1))).toMatchObject([pruned]);
  });

  test("has contracts in reassignment, by each of its events that have been seen", async () => {
    ledger.transact([{ create: creation("a") }, { create: creation("b") }]);
    ledger.unassign("a", "B::1220");
    expect(await elements()).toEqual(["JsActiveContract b 1 0", "JsIncompleteUnassigned a 1 1"]);
    ledger.assign("a");
    ledger.assignEarly("b", "B::1220");
    expect(await elements()).toEqual([
      "JsActiveContract b 1 0",
      "JsActiveContract a 3 1",
      "JsActiveContract b 4 1",
      "JsIncompleteAssigned b 4 1",
    ]);
    ledger.unassignLate("b");
    ledger.unassign("a", "A::1220");
    ledger.enter(creation("c"), "X::1220", "A::1220", 4);
    expect(await elements()).toEqual([
      "JsActiveContract b 4 1",
      "JsActiveContract c 7 4",
      "JsIncompleteUnassigned a 3 2",
    ]);
  });
});

describe("updates", () => {
  test("come from the begin offset on, a reassignment with all its events", async () => {
    ledger.transact([{ create: creation("a") }, { create: creation("b") }]);
    const listener = follow(updatesRequest(1));
    ledger.unassign(["a", "b"], "B::1220");
    ledger.assign(["a", "b"]);
    await until("both are there", () => listener.texts.filter((text) => text.includes("Reassignment")).length === 2);
    const [left, arrived] = listener.messages.filter((message) => describeUpdate(message).endsWith("Reassignment"));
    const moved = { source: "A::1220", target: "B::1220", reassignmentCounter: 1 };
    expect(left).toHaveProperty(
      "update.Reassignment.value",
      expect.objectContaining({ offset: 2, synchronizerId: "A::1220" }),
    );
    expect(left).toMatchObject({
      update: {
        Reassignment: {
          value: {
            events: ["a", "b"].map((contractId, nodeId) => ({
              JsUnassignedEvent: { value: { ...moved, contractId, offset: 2, nodeId } },
            })),
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
            events: ["a", "b"].map((contractId, nodeId) => ({
              JsAssignmentEvent: { ...moved, createdEvent: { contractId, offset: 3, nodeId } },
            })),
          },
        },
      },
    });
    const ids = [left, arrived].map((update) => /"reassignmentId":"(\w+)"/.exec(JSON.stringify(update))?.[1]);
    expect(ids[0]).toBe(ids[1]);
  });

  test("that are not seen are told by a checkpoint, once", async () => {
    const listener = follow();
    await until("the stream is open", () => participant.streams === 1);
    ledger.transact([{ create: creation("a", { signatories: ["bob::1220"], observers: [] }) }]);
    ledger.elsewhere();
    ledger.topology("bob::1220");
    expect((await listener.receive(1)).map(describeUpdate)).toEqual(["3 OffsetCheckpoint"]);
    await pause(100);
    expect(listener.texts).toHaveLength(1);
  });

  test("of a bounded stream are those that are asked for, and it ends at once", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.unassign("a", "B::1220");
    ledger.checkpoint();
    ledger.elsewhere({ offset: 9 });
    expect(await updatesOf(updatesRequest(0, 7))).toEqual(["1 Transaction", "2 Reassignment", "3 OffsetCheckpoint"]);
    const { includeTransactions, includeReassignments } = updateFormat();
    const within = { beginExclusive: 0, endInclusive: 2 };
    expect(await updatesOf({ ...within, updateFormat: { includeTransactions } })).toEqual(["1 Transaction"]);
    expect(await updatesOf({ ...within, updateFormat: { includeReassignments } })).toEqual(["2 Reassignment"]);
    expect(await updatesOf(updatesRequest(3, 9))).toEqual([]);
    expect(await receiveAll(updatesRequest(3, 10))).toMatchObject([{ code: "OFFSET_AFTER_LEDGER_END" }]);
    expect(await receiveAll(updatesRequest(4, 3))).toMatchObject([{ code: "OFFSET_OUT_OF_RANGE" }]);
  });

  test("are cut by a restore; an offset after it is refused, and one before it is followed by another history", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.transact([{ create: creation("b") }]);
    const listener = follow(updatesRequest(0));
    await listener.receive(2);
    ledger.restore(1);
    expect(await listener.ended).toMatchObject({ code: 1006 });
    expect(await receiveAll(updatesRequest(2))).toMatchObject([{ code: "OFFSET_AFTER_LEDGER_END" }]);
    ledger.transact([{ create: creation("c") }]);
    const again = JSON.stringify(await receiveAll(updatesRequest(0, 2)));
    expect([again.includes('"contractId":"c"'), again.includes('"contractId":"b"')]).toEqual([true, false]);
  });

  test("that are pruned are refused, also while they are read", async () => {
    ledger.checkpoint();
    participant.faults.delay(50);
    const listener = follow(updatesRequest(0));
    await until("the stream is open", () => participant.streams === 1);
    for (let count = 0; count < 400; count++) ledger.checkpoint();
    participant.faults.delay(0, { streams: "open" });
    ledger.prune(401);
    expect(await listener.ended).toMatchObject({ code: 1000 });
    const pruned = { code: "PARTICIPANT_PRUNED_DATA_ACCESSED", context: { earliest_offset: "401" } };
    expect(listener.messages.at(-1)).toMatchObject(pruned);
    expect(await receiveAll(updatesRequest(400))).toMatchObject([pruned]);
  });
});
