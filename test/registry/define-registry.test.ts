/** Registries in TypeScript: two functions are enough, and the others have defaults. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import {
  defineRegistry,
  defineTemplate,
  notFound,
  z,
  type AnyValue,
  type Registry,
  type RegistryDefinition,
} from "../../src/registry/sdk/index.js";
import { answer, type ShortContract, type TestOperation } from "../../src/testing/index.js";
import { elementOf } from "../fixtures/contexts.js";
import { storeOf } from "../fixtures/in-memory.js";

const tea = (name: string) => ({ package: "tea-v1", name: `Tea:${name}`, registrar: "admin" });
const rules = defineTemplate({ ...tea("Rules"), until: "end", payload: z.object({ leaf: z.string().min(1) }) });
const offer = defineTemplate({ ...tea("Offer"), choices: "transfer-instruction", refs: { locked: "lockedCid" } });
const licence = defineTemplate({ ...tea("Licence"), find: [["holder"]], payload: z.object({ grade: z.string() }) });
const pot = defineTemplate({ ...tea("Pot") });

const small: RegistryDefinition<{ leaf: string }> = {
  name: "tea",
  factory: rules,
  templates: [offer, licence, pot],
  instruments: ([{ fields }]) => [{ id: fields.payload.leaf }],
};
const registry = defineRegistry({
  ...small,
  context({ find, findById, reference, parties, contractIds, contract }, operation) {
    const [sender = ""] = parties["sender"] ?? [];
    const found = sender === "" ? undefined : find(licence, { holder: sender });
    const [locked] = contractIds["locked"] ?? [];
    const lid = locked === undefined ? undefined : findById(pot, locked, { optional: true });
    return {
      grade: found && { tag: "AV_Text", value: found.fields.payload.grade },
      licence: found && reference(found),
      pot: lid && reference(lid),
      asked: { tag: "AV_Text", value: `${operation} ${contract?.contractId}` },
    };
  },
  isDirect: ({ parties }) => parties["receiver"]?.includes("friend") === true,
});

const contract = (name: string, contractId: string, payload: JsonObject, more: object = {}): ShortContract => ({
  template: `:${name}`,
  contractId,
  payload: { admin: "a", ...payload },
  ...more,
});
const transferOf = (sender: string, receiver: string) => ({
  sender,
  receiver,
  instrumentId: { admin: "a", id: "OOLONG" },
});
const given = [
  contract("Rules", "rules", { leaf: "OOLONG", end: "2026-03-01T00:00:00Z" }),
  contract("Licence", "licence of ann", { holder: "ann", grade: "fine" }),
  contract("Offer", "offer", { transfer: transferOf("ann", "bob"), lockedCid: "pot" }),
  contract("Pot", "pot", {}),
];

const ask = <O extends TestOperation>(of: Registry, operation: O, request: object = {}, contracts = given) =>
  answer(of, contracts, { operation, registrar: "a", ...request });
const transfer = (sender: string, receiver: string) => ({
  choiceArguments: { transfer: transferOf(sender, receiver) },
});

describe("a small token", () => {
  const answered = defineRegistry(small);

  test("has its instruments, factories and choices without a context", async () => {
    expect(await ask(answered, "instruments")).toMatchObject({ instruments: [{ id: "OOLONG", symbol: "OOLONG" }] });
    const { factory, transferKind, values, disclosed } = await ask(
      answered,
      "transfer-factory",
      transfer("ann", "friend"),
    );
    expect({ factory, transferKind, values }).toEqual({ factory: "rules", transferKind: "offer", values: {} });
    expect(disclosed).toMatchObject([{ contractId: "rules", templateId: "package:Tea:Rules" }]);
    expect(await ask(answered, "transfer-factory", transfer("ann", "ann"))).toMatchObject({ transferKind: "self" });
    const legs = [{ sender: { owner: "ann" }, receiver: { owner: "bob" }, instrumentId: "OOLONG" }];
    const settled = { choiceArguments: { transferLegs: legs, allocations: [] } };
    expect(await ask(answered, "settlement-factory", settled)).toMatchObject({ factory: "rules", values: {} });
    expect(await ask(answered, "transfer-instruction/accept", { contractId: "offer" })).toEqual({
      values: {},
      disclosed: [],
    });
  });

  test.each<[string, TestOperation, object, object]>([
    ["a registrar without a factory", "instruments", { registrar: "b" }, { status: 404, code: "registrar-not-served" }],
    ["a factory that has ended", "instruments", { at: "2026-03-01T00:00:00Z" }, { status: 404 }],
    [
      "a choice that no template names",
      "allocation/withdraw",
      { contractId: "offer" },
      { status: 404, code: "operation-not-supported" },
    ],
  ])("refuses %s", async (_what, operation, request, expected) => {
    await expect(ask(answered, operation, request)).rejects.toMatchObject(expected);
  });

  test("has a total supply where one of its templates is counted", async () => {
    const beans = defineTemplate({ ...tea("Beans"), supply: { instrument: "leaf", amount: "grams" } });
    const counting = defineRegistry({ ...small, templates: [beans] });
    const counted = [
      ["OOLONG", "1.25"],
      ["OOLONG", "2"],
      ["GREEN", "7"],
    ].map(([leaf = "", grams = ""], at) => contract("Beans", `beans ${at}`, { leaf, grams }));
    const listed = await ask(counting, "instruments", {}, [...given.slice(0, 1), ...counted]);
    expect(listed).toMatchObject({ instruments: [{ id: "OOLONG", totalSupply: "3.2500000000" }] });
    expect(JSON.stringify(await ask(answered, "instruments"))).not.toContain("totalSupply");
  });

  test("has an inventory", async () => {
    const rulesOf = (admin: string, end?: string) =>
      elementOf("tea-v1#Tea:Rules", `rules of ${admin}`, { admin, leaf: "OOLONG", ...(end !== undefined && { end }) });
    // The rules of b have ended.
    const store = await storeOf([rulesOf("a"), rulesOf("b", "1969-01-01T00:00:00Z")], answered);
    const inventory = store.read((view) => answered.inventory(view, { now: 0, credentialDays: 0 }));
    expect(inventory).toMatchObject({
      registrars: [{ party: "a", instruments: [{ source: "a", id: "OOLONG", scheme: "tea" }] }],
      counts: [{ qualifiedName: "Tea:Rules", count: 2 }],
    });
  });
});

describe("its context", () => {
  const text = (value: string): AnyValue => ({ tag: "AV_Text", value });
  const ofFriend = contract("Licence", "licence of a friend", { holder: "friend", grade: "fine" });
  const ofAnn = { grade: text("fine"), licence: { tag: "AV_ContractId", value: "licence of ann" } };

  test("has what it finds, and discloses what it refers to", async () => {
    const asked = await ask(registry, "transfer-factory", transfer("ann", "friend"));
    expect(asked).toMatchObject({ transferKind: "direct" });
    expect(asked.values).toEqual({ ...ofAnn, asked: text("transfer-factory rules") });
    expect(asked.disclosed.map(({ contractId }) => contractId)).toEqual(["rules", "licence of ann"]);
    // To oneself it is at once, whoever approves.
    expect(await ask(registry, "transfer-factory", transfer("friend", "friend"), [...given, ofFriend])).toMatchObject({
      transferKind: "self",
    });
    const accept = await ask(registry, "transfer-instruction/accept", { contractId: "offer" });
    const values = { ...ofAnn, pot: { tag: "AV_ContractId", value: "pot" } };
    expect(accept.values).toEqual({ ...values, asked: text("transfer-instruction/accept offer") });
  });

  test("is refused without what it needs, but not for choices that only end something", async () => {
    const without = given.filter(({ template }) => template !== ":Licence");
    await expect(ask(registry, "transfer-instruction/accept", { contractId: "offer" }, without)).rejects.toMatchObject({
      status: 404,
      code: "contract-missing",
      message: "the Tea:Licence for ann does not exist",
    });
    const { values } = await ask(registry, "transfer-instruction/reject", { contractId: "offer" }, without);
    expect(Object.keys(values)).toEqual(["pot", "asked"]);
    const moved = [...without, contract("Licence", "moved", { holder: "ann", grade: "raw" }, { synchronizerId: "B" })];
    await expect(ask(registry, "transfer-factory", transfer("ann", "bob"), moved)).rejects.toMatchObject({
      status: 409,
    });
  });

  test("leaves out what is optional and missing", async () => {
    const request = { contractId: "offer", archived: ["pot"] };
    expect((await ask(registry, "transfer-instruction/accept", request)).values).not.toHaveProperty("pot");
  });
});

test("any member may be given in place of its default", async () => {
  const own = defineRegistry({
    ...small,
    supportedApis: { "splice-api-token-metadata-v1": 1 },
    allocationFactory() {
      throw notFound("no allocations of tea");
    },
  });
  expect(own.supportedApis).toEqual({ "splice-api-token-metadata-v1": 1 });
  const allocation = { transferLeg: transferOf("ann", "bob") };
  await expect(ask(own, "allocation-factory", { choiceArguments: { allocation } })).rejects.toMatchObject({
    status: 404,
    message: "no allocations of tea",
  });
  expect(await ask(own, "transfer-factory", transfer("ann", "bob"))).toMatchObject({ factory: "rules" });
});

describe("a template", () => {
  test("keeps what its paths and its schema read, and is found by its registrar and its look-ups", () => {
    const { fields, indexKeys } = licence.parse({ admin: "a", holder: "ann", grade: "fine", more: 1 }) ?? {};
    expect(fields).toMatchObject({ registrar: "a", payload: { grade: "fine" } });
    expect(indexKeys).toHaveLength(2);
    expect(pot.parse({ admin: "a" })?.fields.payload).toBeUndefined();
  });

  test("has a revision of its paths, and of its text", () => {
    const revisions = [{}, { until: "end" }, { find: [["leaf"]] }, { revision: "2" }].map(
      (more) => defineTemplate({ ...tea("Rules"), ...more }).revision,
    );
    expect(new Set(revisions).size).toBe(4);
  });

  test.each([
    [{ admin: "a" }, "leaf must be a string, but is missing"],
    [{ admin: "a", leaf: "" }, "leaf is empty"],
    [{ leaf: "b" }, "admin must not be empty or missing"],
  ])("refuses %j", (payload, message) => {
    expect(() => rules.parse(payload as JsonObject)).toThrow(message);
  });

  test("is refused with all mistakes", () => {
    expect(() => defineTemplate({ ...tea("Rules"), until: "a b", refs: { "": "x" } })).toThrow(
      /^template Tea:Rules is wrong: .*; .*/,
    );
  });
});
