import { describe, expect, test } from "vitest";
import { Decoder, lastOffset, rankOf } from "../../src/ledger/decode.js";
import type { CountedOnly, StoredContract } from "../../src/domain/contract.js";
import { allocationFactory, holding, templates, transferOffer } from "../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { blobOf, element, type Options, payload } from "../fixtures/elements.js";

const decoder = new Decoder(templates);

function decoded(given: JsonValue): StoredContract | CountedOnly {
  const contract = decoder.decode(given);
  if (contract === undefined) throw new Error("the element was not kept");
  return contract;
}

const factory = (options?: Options) => element("AllocationFactory", "factory", payload.service(), options);
const free = element("Holding", "free", payload.lockedHolding("alice", "USD", { lock: null }));

/** The element of a factory with a change to its created event; undefined removes a field. */
function changed(change: Readonly<Record<string, JsonValue | undefined>>, options?: Options): JsonObject {
  const text = JSON.stringify(factory(options), (name, value: unknown) =>
    name === "createdEvent" ? { ...(value as JsonObject), ...change } : value,
  );
  return JSON.parse(text) as JsonObject;
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
      contractId: "offer",
      template: transferOffer,
      templateId: "pkg-7:Utility.Registry.App.V0.Model.Transfer:TransferOffer",
      body: {
        payload: JSON.stringify(payload.offer("alice", "bob", "USD", "locked")),
        views: "",
        createdEventBlob: blobOf("offer"),
        encodings: undefined,
      },
      fields: {
        registrar: "registrar::1220",
        roles: { operator: ["operator::1220"], provider: ["provider::1220"], sender: ["alice"], receiver: ["bob"] },
        refs: { locked: ["locked"] },
        instruments: ["USD"],
        deadline: Date.parse("2036-01-05T09:00:00Z") * 1_000,
      },
      indexKeys: [],
      createdAt: "2026-01-05T09:00:00.123456Z",
      createdMicros: 1_767_603_600_123_456,
      supply: undefined,
      synchronizerId: "sync-B",
      reassignmentCounter: 2,
    });
  });

  test.each(["ab".repeat(32), "#utility-registry-app-v0"])(
    "has the index keys of its template, and is known whatever its package id: %s",
    (packageId) => {
      expect(decoded(factory({ packageId }))).toMatchObject({
        template: allocationFactory,
        templateId: `${packageId}:Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`,
        indexKeys: ["table//15:registrar::1220"],
      });
    },
  );

  test("without a counter has reassignment counter 0; without an offset that is a number, offset 0", () => {
    const given = JSON.parse(JSON.stringify(factory()).replace(',"reassignmentCounter":0', "")) as JsonObject;
    expect(given).not.toEqual(factory());
    expect(decoded(given).reassignmentCounter).toBe(0);
    expect(lastOffset(given)).toBe(10);
    for (const offset of [undefined, null, "17"]) expect(lastOffset(changed({ offset }))).toBe(0);
  });

  test("in reassignment has no synchronizer, and the counter and the offset of that event", () => {
    const state = { contractId: "factory", synchronizerId: undefined };
    const left = JSON.stringify(factory({ moving: "unassigned", reassignmentCounter: 3 }));
    const at4000 = JSON.parse(left.replace('"source":', '"offset":4000,"source":')) as JsonObject;
    expect(decoded(at4000)).toMatchObject({ ...state, reassignmentCounter: 3 });
    expect(lastOffset(at4000)).toBe(4_000);
    const arriving = factory({ moving: "arriving", reassignmentCounter: 4 });
    expect(decoded(arriving)).toMatchObject({ ...state, reassignmentCounter: 4 });
  });
});

describe("no contract is decoded", () => {
  const { lock, ...bare } = payload.lockedHolding("alice", "USD");

  test.each<[string, JsonValue]>([
    ["of an empty entry", { workflowId: "", contractEntry: { JsEmpty: {} } }],
    ["of another entity", changed({ templateId: "pkg-1:Utility.Registry.App.V0.Service.AllocationFactory:Other" })],
    ["of another package, whatever it holds", changed({ packageName: "other", createArgument: 5, contractId: 7 })],
    ["of a holding without a lock", free],
    ["of a holding that has no field for it", element("Holding", "free", bare)],
  ])("%s", (_what, given) => {
    expect(decoder.decode(given)).toBeUndefined();
  });

  test("of other templates than the decoder's", () => {
    expect(new Decoder([holding]).decode(factory())).toBeUndefined();
    expect(new Decoder([]).decode(factory())).toBeUndefined();
  });

  test("except for a locked holding, and an unlocked one where optional contracts are kept; it may be counted only", () => {
    expect(lock).toBeDefined();
    expect(decoded(element("Holding", "locked", payload.lockedHolding("alice", "USD")))).toMatchObject({
      template: holding,
    });
    for (const countsSupply of [false, true]) {
      const kept = new Decoder(templates, { countsSupply, keepsOptional: true }).decode(free);
      expect(kept).toMatchObject({ contractId: "free", template: holding, fields: { owner: "alice" } });
    }
    const counted = new Decoder(templates, { countsSupply: true }).decode(free);
    expect(Object.keys(counted ?? {}).toSorted()).toEqual([
      "contractId",
      "reassignmentCounter",
      "supply",
      "synchronizerId",
    ]);
  });
});

const entry = (contractEntry: JsonValue): JsonObject => ({ workflowId: "", contractEntry });

describe("an error names the field", () => {
  const forms = "contractEntry must be one of JsActiveContract, JsIncompleteUnassigned, JsIncompleteAssigned, JsEmpty";
  const advice = "request it from the participant with includeCreatedEventBlob";
  const form = (templateId: string): [string, JsonValue] => [
    `templateId must be packageId:Module:Entity, but is ${templateId}`,
    changed({ templateId }),
  ];

  test.each<[string, JsonValue]>([
    ...[5, "text", null, [factory()]].map((given): [string, JsonValue] => [
      "the element must be an object, but is not one",
      given,
    ]),
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
    ["templateId must be a string, but is missing", changed({ templateId: undefined })],
    ...["a:b", "a:b:c:d", ":b:c", "a::c", "a:b:"].map(form),
    ["packageName must be a string, but is missing", changed({ packageName: undefined })],
    ["contractId must be a string, but is not one", changed({ contractId: 5 }, { moving: "unassigned" })],
    ["createArgument must be an object, but is not one", changed({ createArgument: [] })],
    ["invalid time, expected a format like 2026-01-31T12:00:00.123456Z: soon", changed({ createdAt: "soon" })],
    [`createdEventBlob must be a string, but is empty: ${advice}`, changed({ createdEventBlob: "" })],
    // Without padding, in the alphabet of URLs, with bits that no byte has, with a line break.
    ...["QUI", "_-8=", "QUJ=", "QUJD\n"].map((createdEventBlob): [string, JsonObject] => [
      "createdEventBlob must be base64 with padding, but is not: it would change when it is sent as bytes",
      changed({ createdEventBlob }),
    ]),
    ["registrar must not be empty or missing", changed({ createArgument: { operator: "o", provider: "p" } })],
  ])("%s", (message, given) => {
    expect(() => decoder.decode(given)).toThrow(expect.objectContaining({ message }));
  });

  test.each(["-1", "1.5", '"1"', "true", "1152921504606847000"])(
    "reassignmentCounter must be a whole number, but is %s",
    (counter) => {
      const message = `reassignmentCounter must be a whole number, but is ${counter}`;
      for (const options of [{}, { moving: "unassigned" }, { moving: "arriving" }] as const) {
        const text = JSON.stringify(factory(options)).replace(/(?<="reassignmentCounter":)\d/, counter);
        expect(() => decoder.decode(JSON.parse(text) as JsonValue)).toThrow(new Error(message));
      }
    },
  );
});

test("of the states of a contract the later has the higher rank: left, on its way, arrived, left again", () => {
  const states = [
    factory(),
    factory({ moving: "unassigned", reassignmentCounter: 1 }),
    factory({ reassignmentCounter: 1 }),
    factory({ moving: "unassigned", reassignmentCounter: 2 }),
    factory({ reassignmentCounter: 2 }),
  ];
  const ranks = states.map((one) => rankOf(decoded(one)));
  expect(ranks).toEqual([...new Set(ranks)].toSorted((a, b) => a - b));
  expect(rankOf(decoded(factory({ moving: "arriving", reassignmentCounter: 1 })))).toBe(ranks[1]);
});
