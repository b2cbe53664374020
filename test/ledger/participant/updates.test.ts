import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { decodeUpdate, type Update } from "../../../src/ledger/participant/elements.js";
import { holding, templates } from "../../../src/registry/utility/templates.js";
import { transferOffer } from "../../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { blobOf, payload } from "../../fixtures/elements.js";

type Schemas = v3_5.components["schemas"];
type TransactionEvent = Schemas["Event"];
type ReassignmentEvent = Schemas["JsReassignmentEvent"];

const decoder = new Decoder(templates);

const wire = (value: Schemas["JsGetUpdatesResponse"]): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;
const decoded = (update: Schemas["Update"]): Update => decodeUpdate(wire({ update }), decoder);

const OFFER = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
const HOLDING = "Utility.Registry.Holding.V0.Holding:Holding";

function created(contractId: string, more: Partial<Schemas["CreatedEvent"]> = {}): Schemas["CreatedEvent"] {
  return {
    offset: 17,
    nodeId: 0,
    contractId,
    templateId: `pkg-1:${OFFER}`,
    contractKey: null,
    createArgument: payload.offer("alice", "bob", "USD", "locked"),
    createdEventBlob: blobOf(contractId),
    interfaceViews: [],
    witnessParties: ["alice"],
    signatories: ["alice"],
    observers: [],
    createdAt: "2026-01-05T09:00:00.123456Z",
    packageName: "utility-registry-app-v0",
    representativePackageId: "pkg-1",
    acsDelta: true,
    ...more,
  };
}

const holdingCreated = (contractId: string, createArgument: JsonObject): Schemas["CreatedEvent"] =>
  created(contractId, { templateId: `pkg-1:${HOLDING}`, packageName: "utility-registry-holding-v0", createArgument });

const archived = (contractId: string): TransactionEvent => ({
  ArchivedEvent: {
    offset: 17,
    nodeId: 1,
    contractId,
    templateId: `pkg-1:${OFFER}`,
    witnessParties: ["alice"],
    packageName: "utility-registry-app-v0",
    implementedInterfaces: [],
  },
});

const assigned = (contractId: string, reassignmentCounter: number, target = "sync-B"): ReassignmentEvent => ({
  JsAssignmentEvent: {
    source: "sync-A",
    target,
    reassignmentId: "r1",
    submitter: "alice",
    reassignmentCounter,
    createdEvent: created(contractId),
  },
});

const unassigned = (contractId: string, reassignmentCounter: number): ReassignmentEvent => ({
  JsUnassignedEvent: {
    value: {
      reassignmentId: "r1",
      contractId,
      templateId: `pkg-1:${OFFER}`,
      source: "sync-A",
      target: "sync-B",
      submitter: "alice",
      reassignmentCounter,
      witnessParties: ["alice"],
      packageName: "utility-registry-app-v0",
      offset: 17,
      nodeId: 0,
    },
  },
});

const transaction = (events: TransactionEvent[], more: Partial<Schemas["JsTransaction"]> = {}): Schemas["Update"] => ({
  Transaction: {
    value: {
      updateId: "update-17",
      commandId: "",
      workflowId: "",
      effectiveAt: "2026-01-05T09:00:00.123456Z",
      events,
      offset: 17,
      synchronizerId: "sync-A",
      recordTime: "2026-01-05T09:00:00.123456Z",
      ...more,
    },
  },
});

const reassignment = (events: ReassignmentEvent[]): Schemas["Update"] => ({
  Reassignment: {
    value: {
      updateId: "update-17",
      offset: 17,
      events,
      recordTime: "2026-01-05T09:00:00.123456Z",
      synchronizerId: "sync-A",
    },
  },
});

describe("a transaction", () => {
  test("has its offset, its id, and its changes in order", () => {
    expect(decoded(transaction([{ CreatedEvent: created("one") }, archived("two"), archived("one")]))).toEqual({
      offset: 17,
      updateId: "update-17",
      recorded: 1_767_603_600_123_456,
      changes: [
        {
          active: {
            contractId: "one",
            template: transferOffer,
            templateId: `pkg-1:${OFFER}`,
            payload: JSON.stringify(payload.offer("alice", "bob", "USD", "locked")),
            fields: {
              registrar: "registrar::1220",
              roles: {
                operator: ["operator::1220"],
                provider: ["provider::1220"],
                sender: ["alice"],
                receiver: ["bob"],
              },
              refs: { locked: ["locked"] },
              instruments: ["USD"],
              deadline: Date.parse("2036-01-05T09:00:00Z") * 1_000,
            },
            indexKeys: [],
            createdEventBlob: blobOf("one"),
            createdAt: "2026-01-05T09:00:00.123456Z",
            createdMicros: 1_767_603_600_123_456,
            synchronizerId: "sync-A",
            reassignmentCounter: 0,
            supply: undefined,
            slots: undefined,
          },
        },
        { archived: "two" },
        { archived: "one" },
      ],
      unreadable: [],
    });
  });

  test("creates its contracts on its own synchronizer", () => {
    const update = decoded(transaction([{ CreatedEvent: created("one") }], { synchronizerId: "sync-Z" }));
    expect(update.changes).toMatchObject([{ active: { contractId: "one", synchronizerId: "sync-Z" } }]);
  });

  test("without events moves the offset, and has an id", () => {
    expect(decoded(transaction([]))).toEqual({
      offset: 17,
      updateId: "update-17",
      recorded: 1_767_603_600_123_456,
      changes: [],
      unreadable: [],
    });
  });

  test("omits contracts that no rule needs: other templates, other packages, unlocked holdings", () => {
    const { lock, ...bare } = payload.lockedHolding("alice", "USD");
    expect(lock).toBeDefined();
    const update = decoded(
      transaction([
        { CreatedEvent: created("entity", { templateId: "pkg-1:Utility.Registry.App.V0.Model.Transfer:Other" }) },
        { CreatedEvent: created("package", { packageName: "other", createArgument: 5 }) },
        { CreatedEvent: holdingCreated("free", payload.lockedHolding("alice", "USD", { lock: null })) },
        { CreatedEvent: holdingCreated("bare", bare) },
        { CreatedEvent: holdingCreated("kept", payload.lockedHolding("alice", "USD")) },
      ]),
    );
    expect(update.unreadable).toEqual([]);
    expect(update.changes).toMatchObject([{ active: { contractId: "kept", template: holding } }]);
    expect(update.changes).toHaveLength(1);
  });

  test("archives any contract, since an archival has no payload", () => {
    expect(decoded(transaction([archived("never seen")])).changes).toEqual([{ archived: "never seen" }]);
  });
});

describe("a contract that cannot be decoded", () => {
  /** That it exists is kept, and nothing else of it. */
  const exists = {
    template: { qualifiedName: "Utility.Registry.App.V0.Model.Transfer:TransferOffer (unreadable)" },
    payload: "{}",
    createdEventBlob: "",
    fields: null,
  };

  test.each<[string, Partial<Schemas["CreatedEvent"]>, string]>([
    ["payload", { createArgument: {} }, "operator must not be empty or missing"],
    ["blob", { createdEventBlob: "" }, "createdEventBlob must be a string, but is empty"],
    ["time", { createdAt: "yesterday" }, "invalid time, expected a format like"],
    ["template", { templateId: "a:b" }, "templateId must be packageId:Module:Entity, but is a:b"],
  ])("because of its %s is reported, and the rest of its update is applied", (_what, wrong, reason) => {
    const update = decoded(
      transaction([{ CreatedEvent: created("broken", wrong) }, { CreatedEvent: created("whole") }, archived("gone")]),
    );
    // Without a template nobody asks for it.
    const kept = wrong.templateId === undefined ? [{ active: { ...exists, contractId: "broken" } }] : [];
    const changes = [...kept, { active: { contractId: "whole" } }, { archived: "gone" }];
    expect(update).toMatchObject({
      offset: 17,
      changes,
      unreadable: [
        {
          contractId: "broken",
          templateId: wrong.templateId ?? created("broken").templateId,
          reason: expect.stringContaining(reason) as string,
        },
      ],
    });
    expect(update.changes).toHaveLength(changes.length);
  });

  test("is reported on assignment too", () => {
    const event: ReassignmentEvent = {
      JsAssignmentEvent: {
        source: "sync-A",
        target: "sync-B",
        reassignmentId: "r1",
        submitter: "alice",
        reassignmentCounter: 1,
        createdEvent: created("broken", { createArgument: [] }),
      },
    };
    expect(decoded(reassignment([event]))).toMatchObject({
      changes: [{ active: { ...exists, contractId: "broken", reassignmentCounter: 1 } }],
      unreadable: [{ contractId: "broken", reason: "createArgument must be an object, but is not one" }],
    });
  });
});

describe("a reassignment", () => {
  test("that assigns makes the contract active on its target, with its counter", () => {
    expect(decoded(reassignment([assigned("one", 2, "sync-C")]))).toMatchObject({
      offset: 17,
      updateId: "update-17",
      recorded: 1_767_603_600_123_456,
      changes: [{ active: { contractId: "one", synchronizerId: "sync-C", reassignmentCounter: 2 } }],
      unreadable: [],
    });
  });

  test("that unassigns names the contract and the counter", () => {
    expect(decoded(reassignment([unassigned("one", 3)]))).toEqual({
      offset: 17,
      updateId: "update-17",
      recorded: 1_767_603_600_123_456,
      changes: [{ unassigned: "one", reassignmentCounter: 3 }],
      unreadable: [],
    });
  });

  test("of many contracts has them all, in order", () => {
    const update = decoded(reassignment([unassigned("a", 1), assigned("b", 1), unassigned("c", 4)]));
    expect(update.changes).toMatchObject([
      { unassigned: "a", reassignmentCounter: 1 },
      { active: { contractId: "b" } },
      { unassigned: "c", reassignmentCounter: 4 },
    ]);
  });

  test("that assigns a holding without a lock changes nothing", () => {
    const event = assigned("free", 1);
    const free = holdingCreated("free", payload.lockedHolding("alice", "USD", { lock: null }));
    const update = decoded(
      reassignment(
        "JsAssignmentEvent" in event ? [{ JsAssignmentEvent: { ...event.JsAssignmentEvent, createdEvent: free } }] : [],
      ),
    );
    expect(update).toMatchObject({ offset: 17, changes: [], unreadable: [] });
  });
});

describe("an update that only moves the offset", () => {
  const nothing = { updateId: undefined, changes: [], unreadable: [] };

  test("is an offset checkpoint", () => {
    const value = { offset: 99, synchronizerTimes: [{ synchronizerId: "sync-A", recordTime: "2026-01-05T09:00:00Z" }] };
    expect(decoded({ OffsetCheckpoint: { value } })).toEqual({ offset: 99, ...nothing });
    expect(decoded({ OffsetCheckpoint: { value: { offset: 0 } } })).toEqual({ offset: 0, ...nothing });
  });

  test("is a topology transaction", () => {
    const value: Schemas["JsTopologyTransaction"] = {
      updateId: "topology",
      offset: 100,
      synchronizerId: "sync-A",
      recordTime: "2026-01-05T09:00:00Z",
      events: [],
    };
    expect(decoded({ TopologyTransaction: { value } })).toMatchObject({ offset: 100, changes: [], unreadable: [] });
  });
});

/** A transaction with a field replaced, or removed where the value is undefined. */
const without = (change: Readonly<Record<string, JsonValue | undefined>>): JsonValue =>
  JSON.parse(
    JSON.stringify({
      update: { Transaction: { value: { updateId: "u", synchronizerId: "s", offset: 17, events: [], ...change } } },
    }),
  ) as JsonValue;

const withEvent = (event: JsonValue): JsonValue => without({ events: [event] });
const reassigned = (event: JsonValue): JsonValue => ({
  update: { Reassignment: { value: { updateId: "u", synchronizerId: "s", offset: 17, events: [event] } } },
});

describe("an error of an invalid update names the field", () => {
  const offset = "the offset of an update must be a whole number";

  test.each<[string, JsonValue]>([
    ["the element must be an object, but is not one", 5],
    ["the element must be an object, but is not one", null],
    ["the element must be an object, but is not one", []],
    ["update must be an object, but is missing", {}],
    ["update must be an object, but is not one", { update: "Transaction" }],
    ["Transaction must be an object, but is not one", { update: { Transaction: 5 } }],
    ["value must be an object, but is missing", { update: { Transaction: {} } }],
    ["value must be an object, but is not one", { update: { OffsetCheckpoint: { value: [] } } }],
    [offset, without({ offset: undefined })],
    [offset, without({ offset: "17" })],
    [offset, without({ offset: -1 })],
    [offset, without({ offset: 1.5 })],
    [offset, without({ offset: 2 ** 60 })],
    [offset, { update: { OffsetCheckpoint: { value: {} } } }],
    ["events of update 17 must be a list", without({ events: undefined })],
    ["events of update 17 must be a list", without({ events: {} })],
    ["updateId must be a string, but is missing", without({ updateId: undefined })],
    ["event must be an object, but is not one", withEvent("CreatedEvent")],
    ["an event of update 17 has an unknown form: OtherEvent", withEvent({ OtherEvent: {} })],
    ["CreatedEvent must be an object, but is not one", withEvent({ CreatedEvent: null })],
    ["contractId must be a string, but is missing", withEvent({ CreatedEvent: {} })],
    ["contractId must be a string, but is missing", withEvent({ ArchivedEvent: {} })],
    ["contractId must be a string, but is empty", withEvent({ ArchivedEvent: { contractId: "" } })],
    ["JsAssignmentEvent must be an object, but is not one", reassigned({ JsAssignmentEvent: 1 })],
    ["createdEvent must be an object, but is missing", reassigned({ JsAssignmentEvent: { target: "t" } })],
    [
      "target must be a string, but is missing",
      reassigned({ JsAssignmentEvent: { createdEvent: { contractId: "c" } } }),
    ],
    [
      "target must be a string, but is empty",
      reassigned({ JsAssignmentEvent: { target: "", createdEvent: { contractId: "c" } } }),
    ],
    ["value must be an object, but is missing", reassigned({ JsUnassignedEvent: {} })],
    ["contractId must be a string, but is missing", reassigned({ JsUnassignedEvent: { value: {} } })],
    [
      'reassignmentCounter must be a whole number, but is "1"',
      reassigned({ JsUnassignedEvent: { value: { contractId: "c", reassignmentCounter: "1" } } }),
    ],
  ])("%s", (message, given) => {
    expect(() => decodeUpdate(given, decoder)).toThrow(expect.objectContaining({ message }));
  });

  test("or the known forms", () => {
    const given = { update: { Other: { value: { offset: 17 } } } };
    expect(() => decodeUpdate(given, decoder)).toThrow(
      "update 17 must be a Transaction, Reassignment, OffsetCheckpoint or TopologyTransaction",
    );
  });

  test("also for a created contract without a synchronizer", () => {
    const event = JSON.parse(JSON.stringify({ CreatedEvent: created("c") })) as JsonValue;
    expect(() => decodeUpdate(without({ synchronizerId: undefined, events: [event] }), decoder)).toThrow(
      "synchronizerId must be a string, but is missing",
    );
    expect(() => decodeUpdate(without({ synchronizerId: "", events: [event] }), decoder)).toThrow(
      "synchronizerId must be a string, but is empty",
    );
  });
});
