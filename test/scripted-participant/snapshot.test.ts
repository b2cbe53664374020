/** Active contracts, over HTTP and as a stream. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { alice, ask, creation, eventFormat, Listener, operator, snapshotRequest } from "./test-client.js";
import { ScriptedLedger } from "./ledger.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger, listLimit: 3 });
});
afterEach(() => participant.close());

const path = "/v2/state/active-contracts";

/** All elements over the WebSocket. */
async function stream(request: object = snapshotRequest(ledger.end)): Promise<readonly JsonObject[]> {
  const listener = new Listener(participant.url, path, request);
  expect(await listener.ended).toEqual({ code: 1000, error: undefined });
  return listener.messages;
}

interface Created {
  readonly contractId: string;
  readonly offset: number;
}
interface Element {
  readonly contractEntry: Record<string, { createdEvent?: Created; assignedEvent?: { createdEvent: Created } }>;
}

/** A summary of elements: form, contract, offset of the created event. */
function short(elements: readonly JsonObject[]): string[] {
  return (elements as unknown as Element[]).map(({ contractEntry }) => {
    const [[form, { createdEvent, assignedEvent }] = ["nothing", {}]] = Object.entries(contractEntry);
    const event = createdEvent ?? assignedEvent?.createdEvent;
    return `${form} ${event?.contractId} ${event?.offset}`;
  });
}

test("an active contract has all fields", async () => {
  const created = creation("a");
  ledger.transact([{ create: creation("other", { signatories: ["bob::1220"], observers: [] }) }, { create: created }]);
  const elements = await stream();
  expect(elements).toEqual([
    {
      workflowId: "",
      contractEntry: {
        JsActiveContract: {
          createdEvent: {
            offset: 1,
            nodeId: 1,
            contractId: "a",
            templateId: "pkg-1:Utility.Registry.V0.Rule.Transfer:TransferRule",
            contractKey: null,
            contractKeyHash: "",
            createArgument: { operator, note: "a" },
            createdEventBlob: created.createdEventBlob,
            interfaceViews: [],
            witnessParties: [operator],
            signatories: [operator],
            observers: [alice],
            createdAt: "2026-01-05T09:00:01.000417Z",
            packageName: "utility-registry-v0",
            representativePackageId: "pkg-1",
            acsDelta: true,
          },
          synchronizerId: "A::1220",
          reassignmentCounter: 0,
        },
      },
      streamContinuationToken: expect.any(String) as string,
    },
  ]);
  expect((await ask(participant.url + path, snapshotRequest(1))).body).toEqual(elements);
});

test("every offset that is not pruned can be requested", async () => {
  ledger.transact([{ create: creation("a") }]);
  ledger.transact([{ create: creation("b") }]);
  ledger.transact([{ archive: "a" }]);
  expect(short(await stream(snapshotRequest(0)))).toEqual([]);
  expect(short(await stream(snapshotRequest(2)))).toEqual(["JsActiveContract a 1", "JsActiveContract b 2"]);
  expect(short(await stream(snapshotRequest(3)))).toEqual(["JsActiveContract b 2"]);
  ledger.prune(2);
  expect(short(await stream(snapshotRequest(2)))).toEqual(["JsActiveContract a 1", "JsActiveContract b 2"]);
});

describe("reassignments", () => {
  beforeEach(() => {
    ledger.transact([{ create: creation("a") }]);
    ledger.unassign("a", "B::1220");
  });

  test("an unassigned contract is incompletely unassigned", async () => {
    const [element] = await stream();
    expect(element).toMatchObject({
      contractEntry: {
        JsIncompleteUnassigned: {
          createdEvent: { contractId: "a", offset: 1 },
          unassignedEvent: { contractId: "a", offset: 2, reassignmentCounter: 1, source: "A::1220", target: "B::1220" },
        },
      },
    });
  });

  test("an assigned contract is active with the counter and the offset of its assignment", async () => {
    ledger.assign("a");
    expect(await stream()).toMatchObject([
      {
        contractEntry: {
          JsActiveContract: { createdEvent: { offset: 3 }, synchronizerId: "B::1220", reassignmentCounter: 1 },
        },
      },
    ]);
    ledger.unassign("a", "A::1220");
    expect(short(await stream())).toEqual(["JsIncompleteUnassigned a 3"]);
  });

  test("one assigned before its unassignment has three elements, then one", async () => {
    ledger.transact([{ create: creation("b") }]);
    ledger.assignEarly("b", "B::1220");
    expect(short(await stream())).toEqual([
      "JsActiveContract b 3",
      "JsActiveContract b 4",
      "JsIncompleteUnassigned a 1",
      "JsIncompleteAssigned b 4",
    ]);
    ledger.unassignLate("b");
    expect(short(await stream())).toEqual(["JsActiveContract b 4", "JsIncompleteUnassigned a 1"]);
  });

  test("one from an unconnected synchronizer is active", async () => {
    ledger.enter(creation("c"), "X::1220", "A::1220", 4);
    expect(await stream()).toMatchObject([
      { contractEntry: { JsActiveContract: { createdEvent: { contractId: "c" }, reassignmentCounter: 4 } } },
      { contractEntry: { JsIncompleteUnassigned: {} } },
    ]);
  });
});

/** The contracts at offset 1 in a format. */
async function seen(format: object): Promise<string[]> {
  const elements = await stream({ activeAtOffset: 1, eventFormat: format });
  return short(elements).map((line) => line.split(" ")[1] ?? "");
}

describe("visibility", () => {
  beforeEach(() => {
    ledger.transact([
      { create: creation("a") },
      { create: creation("b", { observers: ["bob::1220"] }) },
      { create: creation("c", { packageName: "other-package" }) },
      { create: creation("d", { templateId: "pkg-2:Utility.Registry.V0.Rule.Transfer:TransferRule" }) },
      { create: creation("e", { templateId: "pkg-1:Other:Other" }) },
    ]);
  });

  test("a template is identified by package name and qualified name, with any package id", async () => {
    expect(await seen(eventFormat())).toEqual(["a", "b", "d"]);
    expect(
      await seen(eventFormat([operator], "#other-package:Utility.Registry.V0.Rule.Transfer:TransferRule")),
    ).toEqual(["c"]);
  });

  test("or by the package id", async () => {
    expect(await seen(eventFormat([operator], "pkg-2:Utility.Registry.V0.Rule.Transfer:TransferRule"))).toEqual(["d"]);
  });

  test("only stakeholders: signatories or observers", async () => {
    expect(await seen(eventFormat(["bob::1220"]))).toEqual(["b"]);
    expect(await seen(eventFormat(["nobody::1220"]))).toEqual([]);
    expect(await seen(eventFormat(["bob::1220", alice]))).toEqual(["a", "b", "d"]);
  });

  test("wildcards, for a party or any party; the blob only on request", async () => {
    const wildcard = { cumulative: [{ identifierFilter: { WildcardFilter: { value: {} } } }] };
    expect(await seen({ filtersByParty: { "bob::1220": wildcard } })).toEqual(["b"]);
    expect(await seen({ filtersByParty: { "bob::1220": {} } })).toEqual(["b"]);
    expect(await seen({ filtersForAnyParty: wildcard })).toEqual(["a", "b", "c", "d", "e"]);
    const [element] = await stream({ activeAtOffset: 1, eventFormat: { filtersForAnyParty: wildcard } });
    expect(element).toMatchObject({
      contractEntry: {
        JsActiveContract: { createdEvent: { createdEventBlob: "", witnessParties: [operator, alice] } },
      },
    });
  });
});

describe("the limit of lists", () => {
  beforeEach(() => {
    ledger.transact(["a", "b", "c", "d"].map((id) => ({ create: creation(id) })));
  });

  test("rejects a longer list over HTTP", async () => {
    const { status, body } = await ask(participant.url + path, snapshotRequest(1));
    expect(status).toBe(413);
    expect(body).toMatchObject({
      code: "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
      cause: "The number of matching elements (4) is greater than the node limit (3).",
    });
  });

  test("accepts a list of that length, and a shorter requested one", async () => {
    ledger.transact([{ archive: "d" }]);
    expect((await ask(participant.url + path, snapshotRequest(2))).body).toHaveLength(3);
    expect((await ask(`${participant.url + path}?limit=2`, snapshotRequest(1))).body).toHaveLength(2);
  });

  test("does not apply to streams", async () => {
    expect(await stream(snapshotRequest(1))).toHaveLength(4);
  });
});

describe("invalid offsets", () => {
  beforeEach(() => {
    for (let count = 0; count < 5; count++) ledger.checkpoint();
    ledger.prune(3);
  });

  test.each([
    [2, { code: "PARTICIPANT_PRUNED_DATA_ACCESSED", context: { earliest_offset: "3" }, grpcCodeValue: 9 }],
    [6, { code: "OFFSET_AFTER_LEDGER_END", grpcCodeValue: 11, errorCategory: 12, retryInfo: "1 second" }],
  ])("%i: %j", async (offset, error) => {
    expect(await ask(participant.url + path, snapshotRequest(offset))).toMatchObject({ status: 400, body: error });
    expect(await stream(snapshotRequest(offset))).toMatchObject([error]);
  });
});

describe("the WebSocket", () => {
  test("selects its subprotocol, and accepts one request only", async () => {
    const listener = new Listener(participant.url, path, snapshotRequest(0));
    await listener.ended;
    expect(listener.protocol).toBe("daml.ws.auth");
    expect(participant.requests).toMatchObject([
      { path, protocols: ["daml.ws.auth"], status: 101, body: { activeAtOffset: 0 } },
    ]);
  });

  test("selects it even if the client does not offer it, which then fails", async () => {
    const listener = new Listener(participant.url, path, snapshotRequest(0), []);
    expect((await listener.ended).error).toBe("Server sent a subprotocol but none was requested");
  });

  test.each([["{"], ["[]"], ['{"activeAtOffset":"x"}']])("reports a decoding error by a message: %s", async (text) => {
    const listener = new Listener(participant.url, path, text);
    expect(await listener.ended).toMatchObject({ code: 1000 });
    expect(listener.messages).toMatchObject([{ code: "LEDGER_API_INTERNAL_ERROR", grpcCodeValue: 13 }]);
  });
});
