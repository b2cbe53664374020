/** What the elements of a participant's streams give: updates, and a snapshot with contracts that cannot be decoded. */
import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import type { Ledger } from "../../../src/ledger/participant/client.js";
import { decodeUpdate, takeSnapshot, type Update } from "../../../src/ledger/participant/elements.js";
import { holding, templates, transferOffer } from "../../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../../src/util/json.js";
import { blobOf, element, payload } from "../../fixtures/elements.js";

type Schemas = v3_5.components["schemas"];
type TransactionEvent = Schemas["Event"];
type ReassignmentEvent = Schemas["JsReassignmentEvent"];

const decoder = new Decoder(templates);
const decoded = (update: Schemas["Update"]): Update =>
  decodeUpdate(JSON.parse(JSON.stringify({ update })) as JsonValue, decoder);

const OFFER = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
const offer = payload.offer("alice", "bob", "USD", "locked");

/** Of an event on a contract. */
const about = (contractId: string) => ({
  offset: 17,
  nodeId: 0,
  contractId,
  templateId: `pkg-1:${OFFER}`,
  witnessParties: ["alice"],
  packageName: "utility-registry-app-v0",
});

function created(contractId: string, more: Partial<Schemas["CreatedEvent"]> = {}): Schemas["CreatedEvent"] {
  return {
    ...about(contractId),
    contractKey: null,
    createArgument: offer,
    createdEventBlob: blobOf(contractId),
    interfaceViews: [],
    signatories: ["alice"],
    observers: [],
    createdAt: "2026-01-05T09:00:00.123456Z",
    representativePackageId: "pkg-1",
    acsDelta: true,
    ...more,
  };
}

const holdingCreated = (contractId: string, more: JsonObject = {}): Schemas["CreatedEvent"] =>
  created(contractId, {
    templateId: "pkg-1:Utility.Registry.Holding.V0.Holding:Holding",
    packageName: "utility-registry-holding-v0",
    createArgument: payload.lockedHolding("alice", "USD", more),
  });

const archived = (contractId: string): TransactionEvent => ({
  ArchivedEvent: { ...about(contractId), implementedInterfaces: [] },
});

const moving = { source: "sync-A", target: "sync-B", reassignmentId: "r1", submitter: "alice" };
const assigned = (createdEvent: Schemas["CreatedEvent"], reassignmentCounter: number): ReassignmentEvent => ({
  JsAssignmentEvent: { ...moving, reassignmentCounter, createdEvent },
});
const unassigned = (contractId: string, reassignmentCounter: number): ReassignmentEvent => ({
  JsUnassignedEvent: { value: { ...moving, ...about(contractId), reassignmentCounter } },
});

const update = {
  updateId: "update-17",
  offset: 17,
  synchronizerId: "sync-A",
  recordTime: "2026-01-05T09:00:00.123456Z",
};
const transaction = (...events: TransactionEvent[]): Schemas["Update"] => ({
  Transaction: { value: { ...update, effectiveAt: update.recordTime, events, synchronizerId: "sync-Z" } },
});
const reassignment = (...events: ReassignmentEvent[]): Schemas["Update"] => ({
  Reassignment: { value: { ...update, events } },
});

const position = { offset: 17, updateId: "update-17", recorded: 1_767_603_600_123_456, unreadable: [] };

/** Of a contract that cannot be decoded, that it exists is kept, and nothing else. */
const exists = {
  template: { qualifiedName: `${OFFER} (unreadable)` },
  body: { payload: "{}", views: "", createdEventBlob: "", encodings: undefined },
  fields: null,
};

describe("a transaction", () => {
  test("has its offset, its id, and its changes in order; contracts are on its synchronizer", () => {
    const events = [{ CreatedEvent: created("one") }, archived("two"), archived("one")];
    const active = {
      contractId: "one",
      template: transferOffer,
      templateId: `pkg-1:${OFFER}`,
      body: { payload: JSON.stringify(offer), views: "", createdEventBlob: blobOf("one") },
      createdMicros: 1_767_603_600_123_456,
      synchronizerId: "sync-Z",
      reassignmentCounter: 0,
    };
    expect(decoded(transaction(...events))).toEqual({
      ...position,
      changes: [{ active: expect.objectContaining(active) as object }, { archived: "two" }, { archived: "one" }],
    });
    expect(decoded(transaction())).toEqual({ ...position, changes: [] });
  });

  test("omits contracts that no rule needs: other templates, other packages, unlocked holdings", () => {
    const omitted = [
      created("entity", { templateId: "pkg-1:Utility.Registry.App.V0.Model.Transfer:Other" }),
      created("package", { packageName: "other", createArgument: 5 }),
      holdingCreated("free", { lock: null }),
    ];
    const events = [...omitted, holdingCreated("kept")].map((CreatedEvent) => ({ CreatedEvent }));
    const { changes, unreadable } = decoded(transaction(...events));
    expect([changes.length, unreadable]).toEqual([1, []]);
    expect(changes).toMatchObject([{ active: { contractId: "kept", template: holding } }]);
  });

  test.each<[string, Partial<Schemas["CreatedEvent"]>, string]>([
    ["payload", { createArgument: {} }, "operator must not be empty or missing"],
    ["blob", { createdEventBlob: "" }, "createdEventBlob must be a string, but is empty"],
    ["time", { createdAt: "yesterday" }, "invalid time, expected a format like"],
    ["template", { templateId: "a:b" }, "templateId must be packageId:Module:Entity, but is a:b"],
  ])("reports a contract that cannot be decoded because of its %s, and applies the rest", (what, wrong, reason) => {
    const events = [{ CreatedEvent: created("broken", wrong) }, { CreatedEvent: created("whole") }, archived("gone")];
    const { changes, unreadable } = decoded(transaction(...events));
    // Without a template nobody asks for it.
    const kept = what === "template" ? [] : [{ active: { ...exists, contractId: "broken" } }];
    expect(changes).toHaveLength(kept.length + 2);
    expect(changes).toMatchObject([...kept, { active: { contractId: "whole" } }, { archived: "gone" }]);
    const templateId = wrong.templateId ?? `pkg-1:${OFFER}`;
    expect(unreadable).toEqual([
      { contractId: "broken", templateId, reason: expect.stringContaining(reason) as string },
    ]);
  });
});

describe("a reassignment", () => {
  test("makes contracts active on their target, or unassigned, with their counters, in order", () => {
    const changes = [
      { active: { contractId: "a", synchronizerId: "sync-B", reassignmentCounter: 2 } },
      { unassigned: "b", reassignmentCounter: 3 },
      { active: { contractId: "c" } },
    ];
    const given = decoded(reassignment(assigned(created("a"), 2), unassigned("b", 3), assigned(created("c"), 1)));
    expect(given).toMatchObject({ ...position, changes });
    expect(given.changes).toHaveLength(3);
  });

  test("of a holding without a lock changes nothing; of what cannot be decoded is reported", () => {
    const free = decoded(reassignment(assigned(holdingCreated("free", { lock: null }), 1)));
    expect(free).toEqual({ ...position, changes: [] });
    expect(decoded(reassignment(assigned(created("broken", { createArgument: [] }), 1)))).toMatchObject({
      changes: [{ active: { ...exists, contractId: "broken", reassignmentCounter: 1 } }],
      unreadable: [{ contractId: "broken", reason: "createArgument must be an object, but is not one" }],
    });
  });
});

test.each<[string, Schemas["Update"], number]>([
  ["a checkpoint", { OffsetCheckpoint: { value: { offset: 0, synchronizerTimes: [] } } }, 0],
  ["a topology transaction", { TopologyTransaction: { value: { ...update, offset: 100, events: [] } } }, 100],
])("%s only moves the offset", (_what, given, offset) => {
  expect(decoded(given)).toEqual({ offset, updateId: undefined, changes: [], unreadable: [] });
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
  const creating = { events: [JSON.parse(JSON.stringify({ CreatedEvent: created("c") })) as JsonValue] };
  const offset = "the offset of an update must be a whole number";

  test.each<[string, JsonValue]>([
    ["the element must be an object, but is not one", 5],
    ["update must be an object, but is missing", {}],
    ["Transaction must be an object, but is not one", { update: { Transaction: 5 } }],
    ["value must be an object, but is missing", { update: { Transaction: {} } }],
    ...[undefined, "17", -1, 1.5, 2 ** 60].map((wrong): [string, JsonValue] => [offset, without({ offset: wrong })]),
    [offset, { update: { OffsetCheckpoint: { value: {} } } }],
    [
      "update 17 must be a Transaction, Reassignment, OffsetCheckpoint or TopologyTransaction",
      { update: { Other: { value: { offset: 17 } } } },
    ],
    ["synchronizerId must be a string, but is missing", without({ synchronizerId: undefined, ...creating })],
    ["events of update 17 must be a list", without({ events: undefined })],
    ["updateId must be a string, but is missing", without({ updateId: undefined })],
    ["event must be an object, but is not one", withEvent("CreatedEvent")],
    ["an event of update 17 has an unknown form: OtherEvent", withEvent({ OtherEvent: {} })],
    ["contractId must be a string, but is missing", withEvent({ CreatedEvent: {} })],
    ["contractId must be a string, but is missing", withEvent({ ArchivedEvent: {} })],
    ["createdEvent must be an object, but is missing", reassigned({ JsAssignmentEvent: { target: "t" } })],
    ["target must be a string, but is missing", reassigned({ JsAssignmentEvent: { createdEvent: {} } })],
    ["value must be an object, but is missing", reassigned({ JsUnassignedEvent: {} })],
    ["contractId must be a string, but is missing", reassigned({ JsUnassignedEvent: { value: {} } })],
    [
      'reassignmentCounter must be a whole number, but is "1"',
      reassigned({ JsUnassignedEvent: { value: { contractId: "c", reassignmentCounter: "1" } } }),
    ],
  ])("%s", (message, given) => {
    expect(() => decodeUpdate(given, decoder)).toThrow(expect.objectContaining({ message }));
  });
});

test("of a snapshot, contracts that cannot be decoded are named, and that they exist is kept, each once", async () => {
  const elements = [
    element("TransferOffer", "whole", offer),
    element("TransferOffer", "broken", {}),
    element("TransferOffer", "broken", {}, { moving: "arriving" }),
    // One of its states can be read.
    element("TransferOffer", "half", offer, { moving: "unassigned", blob: "" }),
    element("TransferOffer", "half", offer, { reassignmentCounter: 2 }),
    // Of two that can be read the later counts.
    element("TransferOffer", "moved", offer, { reassignmentCounter: 2 }),
    element("TransferOffer", "moved", offer, { moving: "arriving", reassignmentCounter: 1 }),
  ];
  const ledger = {
    async *activeContracts() {
      yield* elements;
    },
  } as unknown as Ledger;
  const { offset, contracts, unreadable, existing } = await takeSnapshot(ledger, 5, decoder, () => false);
  expect(offset).toBe(5);
  expect(contracts.map(({ contractId, reassignmentCounter }) => [contractId, reassignmentCounter])).toEqual([
    ["whole", 0],
    ["half", 2],
    ["moved", 2],
  ]);
  expect(unreadable.map(({ contractId }) => contractId)).toEqual(["broken", "broken", "half"]);
  expect(existing).toHaveLength(1);
  expect(existing).toMatchObject([{ ...exists, contractId: "broken" }]);
  expect((await takeSnapshot(ledger, 5, decoder, () => true)).contracts).toEqual([]);
});
