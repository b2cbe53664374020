import { describe, expect, test } from "vitest";
import { Decoder, type DecodedContract, laterState } from "../../src/ledger/decode.js";
import { allocationFactory, holding, templates } from "../../src/registry/utility/templates.js";
import { transferOffer } from "../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { blobOf, element, type Options, payload } from "../fixtures/elements.js";

const decoder = new Decoder(templates);

function decoded(given: JsonValue): DecodedContract {
  const entry = decoder.decode(given);
  if (entry === undefined) throw new Error("the element was not kept");
  return entry;
}

const factory = (options?: Options) => element("AllocationFactory", "factory", payload.service(), options);

/** The element of a factory with a change to its created event; undefined removes a field. */
function changed(change: Readonly<Record<string, JsonValue | undefined>>, options?: Options): JsonObject {
  const given = structuredClone(factory(options));
  const [form] = Object.values(given["contractEntry"] as Record<string, Record<string, JsonObject>>);
  const event = form?.["createdEvent"] ?? (form?.["assignedEvent"]?.["createdEvent"] as JsonObject | undefined);
  if (event === undefined) throw new Error("the fixture has no created event");
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) delete event[name];
    else event[name] = value;
  }
  return given;
}

describe("an active contract", () => {
  test("is decoded field by field", () => {
    const given = element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked"), {
      synchronizerId: "sync-B",
      createdAt: "2026-01-05T09:00:00.123456Z",
      reassignmentCounter: 2,
      packageId: "pkg-7",
    });
    expect(decoded(given)).toEqual({
      offset: 10,
      contract: {
        contractId: "offer",
        template: transferOffer,
        templateId: "pkg-7:Utility.Registry.App.V0.Model.Transfer:TransferOffer",
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
        createdEventBlob: blobOf("offer"),
        createdAt: "2026-01-05T09:00:00.123456Z",
        createdMicros: 1_767_603_600_123_456,
        supply: undefined,
        slots: undefined,
        synchronizerId: "sync-B",
        reassignmentCounter: 2,
      },
    });
  });

  test("has the index keys of its template", () => {
    expect(decoded(factory()).contract).toHaveProperty("indexKeys", ["table//15:registrar::1220"]);
  });

  test.each(["pkg-1", "ab".repeat(32), "#utility-registry-app-v0"])(
    "is known whatever its package id: %s",
    (packageId) => {
      expect(decoded(factory({ packageId })).contract).toMatchObject({
        template: allocationFactory,
        templateId: `${packageId}:Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`,
      });
    },
  );

  test("without a counter has reassignment counter 0", () => {
    const given = factory();
    const { JsActiveContract: active } = given["contractEntry"] as Record<string, JsonObject>;
    delete active?.["reassignmentCounter"];
    expect(decoded(given).contract.reassignmentCounter).toBe(0);
  });

  test.each([undefined, null, "17"])("without an offset (%j) has offset 0", (offset) => {
    expect(decoded(changed({ offset })).offset).toBe(0);
  });
});

describe("a contract in reassignment", () => {
  test("that is unassigned has no synchronizer, and the counter of that event", () => {
    expect(decoded(factory({ moving: "unassigned", reassignmentCounter: 3 })).contract).toMatchObject({
      contractId: "factory",
      synchronizerId: undefined,
      reassignmentCounter: 3,
    });
  });

  test("that is being assigned has no synchronizer, and the counter of that event", () => {
    expect(decoded(factory({ moving: "arriving", reassignmentCounter: 4 })).contract).toMatchObject({
      contractId: "factory",
      synchronizerId: undefined,
      reassignmentCounter: 4,
    });
  });

  test("that is unassigned has the offset of its unassignment", () => {
    const given = factory({ moving: "unassigned" });
    const { JsIncompleteUnassigned: form } = given["contractEntry"] as Record<string, Record<string, JsonObject>>;
    const event = form?.["unassignedEvent"];
    if (event === undefined) throw new Error("the fixture has no unassigned event");
    event["offset"] = 4_000;
    expect(decoded(given).offset).toBe(4_000);
  });
});

describe("no contract is decoded", () => {
  test.each<[string, JsonValue]>([
    ["of an empty entry", { workflowId: "", contractEntry: { JsEmpty: {} } }],
    ["of another entity", changed({ templateId: "pkg-1:Utility.Registry.App.V0.Service.AllocationFactory:Other" })],
    [
      "of another module",
      changed({ templateId: "pkg-1:Utility.Registry.App.V1.Service.AllocationFactory:AllocationFactory" }),
    ],
    ["of another package name", changed({ packageName: "utility-registry-app-v1" })],
    ["of another kind, whatever it holds", changed({ packageName: "other", createArgument: 5, contractId: 7 })],
    ["of a holding without a lock", element("Holding", "free", payload.lockedHolding("alice", "USD", { lock: null }))],
  ])("%s", (_what, given) => {
    expect(decoder.decode(given)).toBeUndefined();
  });

  test("of a holding whose payload has no lock at all", () => {
    const { lock, ...free } = payload.lockedHolding("alice", "USD");
    expect(lock).toBeDefined();
    expect(decoder.decode(element("Holding", "free", free))).toBeUndefined();
  });

  test("of other templates than the decoder's", () => {
    expect(new Decoder([holding]).decode(factory())).toBeUndefined();
    expect(new Decoder([]).decode(factory())).toBeUndefined();
  });

  test("except for an unlocked holding where optional contracts are kept, and whether it is counted does not matter", () => {
    const free = element("Holding", "free", payload.lockedHolding("alice", "USD", { lock: null }));
    for (const countsSupply of [false, true]) {
      const kept = new Decoder(templates, countsSupply, true).decode(free)?.contract;
      expect(kept).toMatchObject({ contractId: "free", template: holding, fields: { owner: "alice" } });
    }
    expect(new Decoder(templates, true, false).decode(free)?.contract).not.toHaveProperty("fields");
  });

  test("except for a locked holding", () => {
    expect(decoded(element("Holding", "locked", payload.lockedHolding("alice", "USD"))).contract).toHaveProperty(
      "template",
      holding,
    );
  });
});

const entry = (contractEntry: JsonValue): JsonObject => ({ workflowId: "", contractEntry });

describe("an error names the field", () => {
  const forms = "contractEntry must be one of JsActiveContract, JsIncompleteUnassigned, JsIncompleteAssigned, JsEmpty";

  test.each<[string, JsonValue]>([
    ["the element must be an object, but is not one", 5],
    ["the element must be an object, but is not one", "text"],
    ["the element must be an object, but is not one", null],
    ["the element must be an object, but is not one", [factory()]],
    ["contractEntry must be an object, but is missing", {}],
    ["contractEntry must be an object, but is not one", entry("JsEmpty")],
    [`${forms}, but is empty`, entry({})],
    [`${forms}, but is JsOther`, entry({ JsOther: {} })],
    ["JsActiveContract must be an object, but is not one", entry({ JsActiveContract: [] })],
    ["JsIncompleteUnassigned must be an object, but is not one", entry({ JsIncompleteUnassigned: null })],
    ["JsIncompleteAssigned must be an object, but is not one", entry({ JsIncompleteAssigned: "x" })],
    ["unassignedEvent must be an object, but is missing", entry({ JsIncompleteUnassigned: {} })],
    ["assignedEvent must be an object, but is missing", entry({ JsIncompleteAssigned: {} })],
    ["synchronizerId must be a string, but is missing", entry({ JsActiveContract: {} })],
    ["createdEvent must be an object, but is missing", entry({ JsActiveContract: { synchronizerId: "a" } })],
    ["createdEvent must be an object, but is missing", entry({ JsIncompleteAssigned: { assignedEvent: {} } })],
    ["synchronizerId must be a string, but is empty", factory({ synchronizerId: "" })],
    ["templateId must be a string, but is missing", changed({ templateId: undefined })],
    ["templateId must be a string, but is not one", changed({ templateId: {} })],
    ["templateId must be packageId:Module:Entity, but is a:b", changed({ templateId: "a:b" })],
    ["templateId must be packageId:Module:Entity, but is a:b:c:d", changed({ templateId: "a:b:c:d" })],
    ["templateId must be packageId:Module:Entity, but is :b:c", changed({ templateId: ":b:c" })],
    ["templateId must be packageId:Module:Entity, but is a::c", changed({ templateId: "a::c" })],
    ["templateId must be packageId:Module:Entity, but is a:b:", changed({ templateId: "a:b:" })],
    ["packageName must be a string, but is missing", changed({ packageName: undefined })],
    ["contractId must be a string, but is missing", changed({ contractId: undefined })],
    ["contractId must be a string, but is empty", changed({ contractId: "" })],
    ["createArgument must be an object, but is missing", changed({ createArgument: undefined })],
    ["createArgument must be an object, but is not one", changed({ createArgument: [] })],
    ["createdAt must be a string, but is missing", changed({ createdAt: undefined })],
    [
      "invalid time, expected a format like 2026-01-31T12:00:00.123456Z: yesterday",
      changed({ createdAt: "yesterday" }),
    ],
    [
      "createdEventBlob must be a string, but is missing: request it from the participant with includeCreatedEventBlob",
      changed({ createdEventBlob: undefined }),
    ],
    [
      "createdEventBlob must be a string, but is empty: request it from the participant with includeCreatedEventBlob",
      changed({ createdEventBlob: "" }),
    ],
    // Without padding, in the alphabet of URLs, with bits that no byte has, with a line break.
    ...["QUI", "_-8=", "QUJ=", "QUJD\n"].map((createdEventBlob): [string, JsonObject] => [
      "createdEventBlob must be base64 with padding, but is not: it would change when it is sent as bytes",
      changed({ createdEventBlob }),
    ]),
    ["contractId must be a string, but is not one", changed({ contractId: 5 }, { moving: "unassigned" })],
    ["contractId must be a string, but is not one", changed({ contractId: 5 }, { moving: "arriving" })],
    ["registrar must not be empty or missing", changed({ createArgument: { operator: "o", provider: "p" } })],
    [
      "registrar must not be empty or missing",
      changed({ createArgument: { operator: "o", provider: "p", registrar: "" } }),
    ],
    [
      "transfer.inputHoldingCids must not be empty or missing",
      element("TransferOffer", "offer", {
        operator: "o",
        provider: "p",
        transfer: { ...(payload.offer("a", "b", "USD", "h")["transfer"] as JsonObject), inputHoldingCids: null },
      }),
    ],
  ])("%s", (message, given) => {
    expect(() => decoder.decode(given)).toThrow(expect.objectContaining({ message }));
  });

  test.each([-1, 1.5, "1", true, 2 ** 60])("reassignmentCounter must be a whole number, but is %j", (counter) => {
    const message = `reassignmentCounter must be a whole number, but is ${JSON.stringify(counter)}`;
    for (const moving of [undefined, "unassigned", "arriving"] as const) {
      const given = factory(moving === undefined ? {} : { moving });
      const text = JSON.stringify(given).replace(
        /"reassignmentCounter":\d/,
        `"reassignmentCounter":${JSON.stringify(counter)}`,
      );
      expect(() => decoder.decode(JSON.parse(text) as JsonValue)).toThrow(new Error(message));
    }
  });
});

const active = (reassignmentCounter: number) => decoded(factory({ reassignmentCounter }));
const left = (reassignmentCounter: number) => decoded(factory({ moving: "unassigned", reassignmentCounter }));
const arriving = (reassignmentCounter: number) => decoded(factory({ moving: "arriving", reassignmentCounter }));

describe("of two elements for one contract", () => {
  test.each<[string, DecodedContract, DecodedContract]>([
    ["the one with the higher reassignment counter determines the state", active(2), active(1)],
    ["one that has left supersedes its earlier state", left(1), active(0)],
    ["one that is arriving supersedes its earlier state", arriving(1), active(0)],
    ["one that has arrived supersedes its unassignment", active(1), left(1)],
    ["one that has arrived supersedes its pending arrival", active(1), arriving(1)],
    ["one that has left again supersedes its earlier arrival", left(2), active(1)],
    ["a later arrival supersedes all earlier states", active(3), arriving(2)],
  ])("%s", (_what, winner, loser) => {
    expect(laterState(winner, loser)).toBe(winner);
    expect(laterState(loser, winner)).toBe(winner);
  });

  test("that are both in reassignment either is kept", () => {
    expect([left(1), arriving(1)].map(({ contract }) => contract)).toContainEqual(
      laterState(left(1), arriving(1))?.contract,
    );
    expect(laterState(arriving(1), left(1))?.contract.synchronizerId).toBeUndefined();
  });

  test("none is kept if both are active at the same counter", () => {
    expect(laterState(active(0), active(0))).toBeUndefined();
    expect(
      laterState(active(2), decoded(factory({ reassignmentCounter: 2, synchronizerId: "sync-B" }))),
    ).toBeUndefined();
  });
});
