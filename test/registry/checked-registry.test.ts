/** What the service checks of a registry of an operator's own. */
import { describe, expect, test } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { backgroundContext } from "../../src/registry/recorder.js";
import { checkedRegistry } from "../../src/registry/checked-registry.js";
import type { AnyValue, ContextAnswer, Registry } from "../../src/registry/sdk/registry.js";
import type { View } from "../../src/store/port.js";
import { ownRegistry } from "../fixtures/own-registry.js";

// The registry below reads nothing of it.
const context = backgroundContext({} as View, 0);
const contract = (contractId: string, synchronizerId: string | undefined = "s") =>
  ({ contractId, synchronizerId }) as Contract;

const answering = (answer: ContextAnswer): Registry => ({
  ...ownRegistry,
  instruments: () => [{ id: "GOLD", otherIds: ["AU"] }],
  transferFactory: () => ({ factoryId: "f", transferKind: "offer", ...answer }),
  settlementFactory: () => ({ factoryId: "f", ...answer }),
  choiceContext: () => answer,
});

const choose = (answer: ContextAnswer) =>
  checkedRegistry(answering(answer)).choiceContext(context, "transfer-instruction/accept", {
    registrar: "r",
    contractId: "i",
  });

const id = (value: string): AnyValue => ({ tag: "AV_ContractId", value });
const named = (...values: AnyValue[]) => values.map((value, index) => ({ name: `k${index}`, value }));

describe("an answer", () => {
  test.each<[string, ContextAnswer]>([
    [
      "refers to what it discloses",
      { values: named(id("a"), { tag: "AV_List", value: [id("a")] }), disclosed: [contract("a")] },
    ],
    ["refers to what its caller sees", { values: named(id("b")), disclosed: [], visible: ["b"] }],
    ["is empty", { values: [], disclosed: [] }],
  ])("that %s is used", (_what, answer) => {
    expect(choose(answer)).toBe(answer);
  });

  test.each<[string, ContextAnswer, RegExp]>([
    ["discloses a contract twice", { values: [], disclosed: [contract("a"), contract("a")] }, /a is disclosed twice/],
    [
      "discloses what moves",
      { values: [], disclosed: [{ ...contract("a"), synchronizerId: undefined }] },
      /a is in reassignment/,
    ],
    [
      "is on two synchronizers",
      { values: [], disclosed: [contract("a"), contract("b", "t")] },
      /several synchronizers: s, t/,
    ],
    [
      "refers to another contract",
      { values: named(id("b")), disclosed: [contract("a")] },
      /k0 refers to contract b, which is neither/,
    ],
    [
      "does so in a list",
      { values: named({ tag: "AV_List", value: [id("b")] }), disclosed: [] },
      /k0\[0\] refers to contract b/,
    ],
    [
      "does so in a map",
      { values: named({ tag: "AV_Map", value: [{ name: "x", value: id("b") }] }), disclosed: [] },
      /k0\.x refers to/,
    ],
    [
      "has a key twice",
      { values: [...named(id("a")), { name: "z", alias: "k0", value: id("a") }], disclosed: [contract("a")] },
      /key k0 is there twice/,
    ],
    [
      "has an unknown tag",
      { values: named({ tag: "AV_Number", value: "1" } as unknown as AnyValue), disclosed: [] },
      /unknown tag AV_Number/,
    ],
    [
      "has a number",
      { values: named({ tag: "AV_Int", value: 1 } as unknown as AnyValue), disclosed: [] },
      /k0 must be a text/,
    ],
  ])("that %s is not", (_what, answer, message) => {
    expect(() => choose(answer)).toThrow(message);
  });

  test("must disclose its factory", () => {
    const registry = checkedRegistry(answering({ values: [], disclosed: [contract("a")] }));
    const transfer = () => registry.transferFactory(context, { registrar: "r", choiceArguments: {} });
    expect(transfer).toThrow("registry own gave an answer that cannot be used: the factory f is not disclosed");
  });
});

const of = (admin: string, instrument: string) => ({ transfer: { instrumentId: { admin, id: instrument } } });

describe("a request", () => {
  const registry = checkedRegistry(answering({ values: [], disclosed: [contract("f")] }));
  const transfer = (choiceArguments: JsonObject) =>
    registry.transferFactory(context, { registrar: "r", choiceArguments });

  test("for an instrument, by each of its ids, is answered", () => {
    expect(transfer({ expectedAdmin: "r", ...of("r", "GOLD") })).toMatchObject({ factoryId: "f" });
    expect(transfer(of("r", "AU"))).toMatchObject({ factoryId: "f" });
  });

  test.each<[string, JsonObject, string, RegExp]>([
    ["expects another admin", { expectedAdmin: "x", ...of("r", "GOLD") }, "invalid", /^expectedAdmin is "x"/],
    ["names another admin", of("x", "GOLD"), "invalid", /^transfer\.instrumentId\.admin is "x"/],
    ["names another admin of an allocation", { allocation: { admin: "x" } }, "invalid", /^allocation\.admin is "x"/],
    ["names no instrument of the registrar", of("r", "LEAD"), "not-found", /has no instrument "LEAD"/],
    [
      "names none of it in a side of an allocation",
      { allocation: { admin: "r", transferLegSides: [{ instrumentId: "GOLD" }, { instrumentId: "LEAD" }] } },
      "not-found",
      /has no instrument "LEAD"/,
    ],
    [
      "names none of it in a leg",
      { transferLegs: [{ instrumentId: "LEAD" }] },
      "not-found",
      /has no instrument "LEAD"/,
    ],
  ])("that %s is refused", (_what, choiceArguments, reason, message) => {
    expect(() => transfer(choiceArguments)).toThrow(
      expect.objectContaining({ reason, message: expect.stringMatching(message) }),
    );
  });

  test("for a settlement without legs is refused", () => {
    const query = { registrar: "r", choiceArguments: { transferLegs: [] } };
    expect(() => registry.settlementFactory(context, query)).toThrow(expect.objectContaining({ reason: "invalid" }));
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
