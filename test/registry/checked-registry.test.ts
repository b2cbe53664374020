/** What the service checks of a registry of an operator's own. */
import { describe, expect, test } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/util/json.js";
import { checkedRegistry } from "../../src/registry/checked-registry.js";
import { backgroundContext } from "../../src/registry/background.js";
import type { AnyValue, ContextResult, Registry } from "../../src/registry/sdk/registry.js";
import type { View } from "../../src/state/port.js";
import { ownRegistry } from "../fixtures/own-registry.js";

// The registry below reads nothing of it.
const context = backgroundContext({} as View, 0);
const on = (synchronizerId: string | undefined, contractId = "a") => ({ contractId, synchronizerId }) as Contract;

const answering = (values: AnyValue[] | ContextResult["values"], disclosed: Contract[], visible: string[] = []) => {
  const named = values.map((value, index) => ("name" in value ? value : { name: `k${index}`, value }));
  const answer: ContextResult = { values: named, disclosed, visible };
  const registry: Registry = {
    ...ownRegistry,
    instruments: () => [{ id: "GOLD", otherIds: ["AU"] }],
    transferFactory: () => ({ factoryId: "f", transferKind: "offer", ...answer }),
    settlementFactory: () => ({ factoryId: "f", ...answer }),
    choiceContext: () => answer,
  };
  const checked = checkedRegistry(registry);
  return {
    choose: () => checked.choiceContext(context, "transfer-instruction/accept", { registrar: "r", contractId: "i" }),
    transfer: (choiceArguments: JsonObject) => checked.transferFactory(context, { registrar: "r", choiceArguments }),
    settle: (choiceArguments: JsonObject) => checked.settlementFactory(context, { registrar: "r", choiceArguments }),
    answer,
  };
};

const id = (value: string): AnyValue => ({ tag: "AV_ContractId", value });
const list = (...value: AnyValue[]): AnyValue => ({ tag: "AV_List", value });
const a = on("s");

describe("an answer", () => {
  test.each<[string, Parameters<typeof answering>]>([
    ["refers to what it discloses", [[id("a"), list(id("a"))], [a]]],
    ["refers to what its caller sees", [[id("b")], [], ["b"]]],
    ["is empty", [[], []]],
  ])("that %s is used", (_what, given) => {
    const { choose, answer } = answering(...given);
    expect(choose()).toBe(answer);
  });

  const twice = [
    { name: "k0", value: id("a") },
    { name: "k0", value: id("a") },
  ];
  const inMap: AnyValue = { tag: "AV_Map", value: [{ name: "x", value: id("b") }] };
  const unknownTag = { tag: "AV_Number", value: "1" } as unknown as AnyValue;
  const number = { tag: "AV_Int", value: 1 } as unknown as AnyValue;
  test.each<[string, Parameters<typeof answering>, RegExp]>([
    ["discloses a contract twice", [[], [a, a]], /a is disclosed twice/],
    ["discloses what moves", [[], [on(undefined)]], /a is in reassignment/],
    ["is on two synchronizers", [[], [a, on("t", "b")]], /several synchronizers: s, t/],
    ["refers to another contract", [[id("b")], [a]], /k0 refers to contract b, which is neither/],
    ["does so in a list", [[list(id("b"))], []], /k0\[0\] refers to contract b/],
    ["does so in a map", [[inMap], []], /k0\.x refers to/],
    ["has a key twice", [twice, [a]], /key k0 is there twice/],
    ["has an unknown tag", [[unknownTag], []], /unknown tag AV_Number/],
    ["has a number", [[number], []], /k0 must be a text/],
  ])("that %s is not", (_what, given, message) => {
    expect(answering(...given).choose).toThrow(message);
  });

  test("must disclose its factory", () => {
    const message = "registry own gave an answer that cannot be used: the factory f is not disclosed";
    expect(() => answering([], [a]).transfer({})).toThrow(message);
  });
});

describe("a request", () => {
  const { transfer, settle } = answering([], [on("s", "f")]);

  test.each([7, true, {}, ["s"]])("whose synchronizer is no text is refused: %j", (_targetSynchronizerId) => {
    const message = /choiceArguments\._targetSynchronizerId must be a string/;
    for (const ask of [transfer, settle]) expect(() => ask({ _targetSynchronizerId })).toThrow(message);
    expect(transfer({ _targetSynchronizerId: "s" })).toMatchObject({ factoryId: "f" });
  });

  const of = (admin: string, instrument: string) => ({ transfer: { instrumentId: { admin, id: instrument } } });

  test("for an instrument, by each of its ids, is answered", () => {
    expect(transfer({ expectedAdmin: "r", ...of("r", "GOLD") })).toMatchObject({ factoryId: "f" });
    expect(transfer(of("r", "AU"))).toMatchObject({ factoryId: "f" });
  });

  const sides = { admin: "r", transferLegSides: [{ instrumentId: "GOLD" }, { instrumentId: "LEAD" }] };
  test.each<[string, JsonObject, string, RegExp]>([
    ["expects another admin", { expectedAdmin: "x", ...of("r", "GOLD") }, "invalid", /^expectedAdmin is "x"/],
    ["names another admin", of("x", "GOLD"), "invalid", /^transfer\.instrumentId\.admin is "x"/],
    ["names another admin of an allocation", { allocation: { admin: "x" } }, "invalid", /^allocation\.admin is "x"/],
    ["names no instrument of the registrar", of("r", "LEAD"), "not-found", /has no instrument "LEAD"/],
    ["names none in a side of an allocation", { allocation: sides }, "not-found", /has no instrument "LEAD"/],
    ["names none in a leg", { transferLegs: [{ instrumentId: "LEAD" }] }, "not-found", /has no instrument "LEAD"/],
  ])("that %s is refused", (_what, choiceArguments, reason, message) => {
    const refusal = expect.objectContaining({ reason, message: expect.stringMatching(message) as string }) as Error;
    expect(() => transfer(choiceArguments)).toThrow(refusal);
  });

  test("for a settlement without legs is refused", () => {
    expect(() => settle({ transferLegs: [] })).toThrow(expect.objectContaining({ reason: "invalid" }) as Error);
  });
});

test("the other members of a registry are its own", () => {
  class Own {
    readonly name = "class";
    inventory() {
      return this.name;
    }
  }
  const registry = checkedRegistry(new Own() as unknown as Registry);
  expect([registry.name, registry.inventory({} as View, { now: 0 } as never)]).toEqual(["class", "class"]);
});
