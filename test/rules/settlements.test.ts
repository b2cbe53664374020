/** Settlements: the context, its parties, allocations that are not known, extra sides, funding, limits. */
import { describe, expect, test } from "vitest";
import type { CatchUpProgress } from "../../src/domain/ledger.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { settlementFactory } from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed, resultContracts } from "../fixtures/context.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { account, leg, legSide, replaced, settlement } from "../fixtures/requests.js";
import { refused, type Rules, rulesOn } from "../fixtures/rules.js";

const [alice, bob, carol] = [account("alice"), account("bob"), account("carol")];
const sorted = (ids: readonly string[]): string[] => ids.toSorted((a, b) => (a < b ? -1 : 1));
const ofOther = (one: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(one).replaceAll(parties.registrar, "registrar-2::1220")) as JsonObject;

/** Besides USD, whose holders need a credential: EUR, which requires another, and CHF, which requires none. */
const added = [
  element(
    "InstrumentConfiguration",
    "eur",
    payload.configuration("EUR", { holderRequirements: [requirement(["holds=EUR"])] }),
  ),
  element("InstrumentConfiguration", "chf", payload.configuration("CHF")),
  ...["alice", "bob", "carol"].map((party) =>
    element("Credential", `${party}-holds-eur`, payload.credential(party, ["holds=EUR"])),
  ),
  element("DvpLegAllocation", "usd-leg", payload.allocation("alice", "bob", "USD", "locked-usd")),
  element("DvpLegAllocation", "twin", payload.allocation("alice", "bob", "USD", "locked-usd")),
  element("DvpLegAllocation", "eur-leg", payload.allocation("carol", "bob", "EUR", "locked-eur")),
  element("DvpLegAllocation", "gone", payload.allocation("alice", "bob", "USD", "locked-gone")),
  ofOther(element("DvpLegAllocation", "of-other", payload.allocation("alice", "bob", "USD", "locked-usd"))),
  ofOther(element("AllocationFactory", "factory-2", payload.service())),
  element("Holding", "locked-usd", payload.lockedHolding("alice", "USD")),
  element("Holding", "locked-eur", payload.lockedHolding("carol", "EUR")),
];
const elements = registryOf({}, ...added);
const rules = rulesOn(elements);
const settle = (legs: readonly JsonObject[], ids: readonly string[], of: Rules = rules) =>
  of.ask(settlementFactory(settlement(legs, ids)));

const usd = [leg(alice, bob, "USD")];
const ofUsd = {
  "instrument-configurations": map({ USD: contractId("usd") }),
  "instrument-configuration": contractId("usd"),
};
const holders = (lists: Readonly<Record<string, readonly string[]>>): JsonObject => ({
  "holder-credentials": map(
    Object.fromEntries(Object.entries(lists).map(([party, ids]) => [party, contractIds(...ids)])),
  ),
});
const settled = (entries: JsonObject, ...disclosed: readonly string[]): JsonObject => ({
  factoryId: "factory",
  values: { ...prefixed({ "transfer-rule": contractId("rule"), ...entries }), ...resultContracts(true) },
  disclosed: sorted(["alice-holds", "bob-holds", "factory", "rule", "usd", ...disclosed]),
});
const ofAliceAndBob = { ...ofUsd, ...holders({ alice: ["alice-holds"], bob: ["bob-holds"] }) };
const usdSettled = settled(ofAliceAndBob, "locked-usd", "usd-leg");

describe("the context", () => {
  test("of one instrument has its configuration and the map", async () => {
    expect(await settle(usd, ["usd-leg"])).toEqual(usdSettled);
    expect(await settle([...usd, leg(bob, alice, "USD")], ["usd-leg"])).toEqual(usdSettled);
  });

  test("of many has only the map, and each owner's credentials for its instruments", async () => {
    const legs = [...usd, leg(carol, bob, "EUR"), leg(carol, alice, "CHF")];
    expect(await settle(legs, ["usd-leg", "eur-leg"])).toEqual(
      settled(
        {
          "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") }),
          ...holders({ alice: ["alice-holds"], bob: ["bob-holds", "bob-holds-eur"], carol: ["carol-holds-eur"] }),
        },
        "bob-holds-eur",
        "carol-holds-eur",
        "chf",
        "eur",
        "eur-leg",
        "locked-eur",
        "locked-usd",
        "usd-leg",
      ),
    );
  });

  test("has an empty list for an owner without requirements, and leaves out optional entries", async () => {
    const without = rulesOn(registryOf({ reward: undefined, right: undefined, service: undefined }, ...added));
    expect(await settle([leg(carol, alice, "CHF")], [], without)).toEqual({
      factoryId: "factory",
      values: prefixed({
        "transfer-rule": contractId("rule"),
        "instrument-configurations": map({ CHF: contractId("chf") }),
        "instrument-configuration": contractId("chf"),
        ...holders({ alice: [], carol: [] }),
      }),
      disclosed: ["chf", "factory", "rule"],
    });
  });

  test("discloses a repeated allocation and a shared holding once", async () => {
    expect(await settle(usd, ["usd-leg", "twin", "usd-leg"])).toEqual(
      settled(ofAliceAndBob, "locked-usd", "twin", "usd-leg"),
    );
  });

  test.each(["constructor", "toString", "1"])("accepts the id %s", async (id) => {
    const odd = rulesOn(registryOf({}, element("InstrumentConfiguration", "odd", payload.configuration(id))));
    expect(await settle([leg(account(id), account(id), id)], [], odd)).toMatchObject({
      values: prefixed({ "instrument-configurations": map({ [id]: contractId("odd") }), ...holders({ [id]: [] }) }),
    });
  });
});

describe("a settlement requires", () => {
  test.each<[string, readonly JsonObject[], readonly string[], readonly string[]]>([
    ["an allocation of the same registrar", usd, ["usd-leg", "of-other"], ["of-other", "not known here"]],
    ["a configuration of each instrument", [...usd, leg(alice, bob, "GBP")], ["usd-leg"], ["GBP"]],
    ["the locked holding of each allocation", usd, ["usd-leg", "gone"], ["locked-gone"]],
  ])("%s", async (_what, legs, ids, named) => {
    expect(await settle(legs, ids)).toEqual(refused(404, ...named));
  });

  const body = settlement(usd, ["usd-leg"]);
  const wrong = (field: string, value?: JsonValue) =>
    rules.ask(settlementFactory(replaced(body, `choiceArguments.${field}`, value)));

  const paths = ["transferLegs", "transferLegs[0].sender", "transferLegs[0].receiver", "transferLegs[0].instrumentId"];
  test.each([...paths, "allocations", "allocations[0].allocationCid"])(
    "%s, and the message has its path",
    async (field) => {
      for (const value of [undefined, 5, null]) expect(await wrong(field, value)).toEqual(refused(400, field));
    },
  );

  test("legs and allocations that are objects, accounts of a party, and at least one leg", async () => {
    for (const field of ["transferLegs[0]", "allocations[0]"])
      for (const value of ["text", 5, null]) expect(await wrong(field, value)).toEqual(refused(400, field));
    for (const side of ["transferLegs[0].sender", "transferLegs[0].receiver"])
      expect(await wrong(side, account(null))).toEqual(refused(400, side));
    for (const [field, value] of [
      ["transferLegs", []],
      ["allocations[0].allocationCid", ""],
    ] as const)
      expect(await wrong(field, value as JsonValue)).toEqual(refused(400, field));
  });

  test.each(["settlement", "actors", "extraArgs", "transferLegs[0].amount"])("not %s", async (field) => {
    expect(await wrong(field)).toEqual(usdSettled);
  });
});

const settling = (of: readonly JsonObject[], ...allocations: readonly JsonObject[]): Promise<JsonObject> =>
  rules.ask(settlementFactory(replaced(settlement(of, []), "choiceArguments.allocations", [...allocations])));
const side = (otherside: JsonObject, instrumentId: string): JsonObject => ({
  ...legSide("ReceiverSide", instrumentId),
  otherside,
});

describe("extra sides and funding", () => {
  const ofAlice = { allocationCid: "usd-leg", extraTransferLegSides: [], nextIterationFunding: null };

  test.each<[string, JsonObject]>([
    ["null", { allocationCid: "usd-leg", extraTransferLegSides: null, nextIterationFunding: null }],
    ["absent", { allocationCid: "usd-leg" }],
    ["empty", { allocationCid: "usd-leg", nextIterationFunding: {} }],
  ])("that are %s add nothing", async (_what, allocation) => {
    expect(await settling(usd, allocation)).toEqual(usdSettled);
  });

  const usdAndEur = map({ USD: contractId("usd"), EUR: contractId("eur") });
  const ofAlices = ["alice-holds", "alice-holds-eur"];

  test("an extra side needs the credentials of both its parties", async () => {
    const lists = holders({ alice: ofAlices, bob: ["bob-holds"], carol: ["carol-holds-eur"] });
    expect(await settling(usd, { ...ofAlice, extraTransferLegSides: [side(carol, "EUR")] })).toEqual(
      settled(
        { "instrument-configurations": usdAndEur, ...lists },
        "alice-holds-eur",
        "carol-holds-eur",
        "eur",
        "locked-usd",
        "usd-leg",
      ),
    );
  });

  test.each<[string, JsonValue]>([
    ["an object", { EUR: "1.0", CHF: "1.0" }],
    [
      "a list of pairs",
      [
        ["EUR", "1.0"],
        ["CHF", "1.0"],
      ],
    ],
  ])("funding, as %s, needs those of its sender", async (_what, nextIterationFunding) => {
    const configurations = map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") });
    const lists = holders({ alice: ["alice-holds"], bob: ["bob-holds"], carol: ["carol-holds-eur"] });
    expect(await settling(usd, ofAlice, { allocationCid: "eur-leg", nextIterationFunding })).toEqual(
      settled(
        { "instrument-configurations": configurations, ...lists },
        "carol-holds-eur",
        "chf",
        "eur",
        "eur-leg",
        "locked-eur",
        "locked-usd",
        "usd-leg",
      ),
    );
  });

  test("an allocation that is named several times has those of each", async () => {
    const sided = { ...ofAlice, extraTransferLegSides: [side(carol, "EUR")] };
    const configurations = map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") });
    const lists = holders({ alice: ofAlices, bob: ["bob-holds"], carol: ["carol-holds-eur"] });
    expect(await settling(usd, sided, { ...ofAlice, nextIterationFunding: { CHF: "1.0" } }, ofAlice)).toEqual(
      settled(
        { "instrument-configurations": configurations, ...lists },
        "alice-holds-eur",
        "carol-holds-eur",
        "chf",
        "eur",
        "locked-usd",
        "usd-leg",
      ),
    );
  });

  test("funding of the instrument of a leg adds nothing", async () => {
    expect(await settling(usd, { ...ofAlice, nextIterationFunding: { USD: "1.0" } })).toEqual(usdSettled);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["an extra side in an unknown instrument", { extraTransferLegSides: [side(bob, "GBP")] }, refused(404, "GBP")],
    ["funding of an unknown instrument", { nextIterationFunding: { GBP: "1.0" } }, refused(404, "GBP")],
    ["extra sides that are no list", { extraTransferLegSides: {} }, refused(400, "extraTransferLegSides")],
    ["a side without an instrument", { extraTransferLegSides: [{ otherside: bob }] }, refused(400, "instrumentId")],
    ["a side without a party", { extraTransferLegSides: [{ instrumentId: "EUR" }] }, refused(400, "otherside")],
    [
      "a side of an account without owner and provider",
      { extraTransferLegSides: [side(account(null, null, "savings"), "EUR")] },
      refused(400, "otherside"),
    ],
    ["funding that is no map", { nextIterationFunding: "EUR" }, refused(400, "nextIterationFunding")],
  ])("%s is refused", async (_what, more, expected) => {
    expect(await settling(usd, { ...ofAlice, ...more })).toEqual(expected);
  });
});

/** The store moves on without reaching the ledger's end. */
async function* neverReached(): AsyncGenerator<CatchUpProgress> {
  yield "advanced";
}

describe("an allocation that is not known, which may be created in the same transaction,", () => {
  const strict = rulesOn(elements, { rejectsUnknownAllocations: true });

  test.each([
    ["alone", ["00ff"], []],
    ["beside a known one", ["00ff", "usd-leg"], ["usd-leg", "locked-usd"]],
    ["or several", ["00ff", "twin", "00fe", "usd-leg"], ["twin", "usd-leg", "locked-usd"]],
    ["or a reference of the command's own", ["#the allocation of alice", "usd-leg"], ["usd-leg", "locked-usd"]],
  ])("is left out: %s", async (_what, ids, known) => {
    expect(await settle(usd, ids)).toEqual(settled(ofAliceAndBob, ...known));
  });

  test("is refused if the setting says so, naming each with all else that is missing", async () => {
    expect(await settle(usd, ["00ff", "usd-leg", "00fe"], strict)).toEqual(
      refused(404, "00ff", "00fe", "not known here"),
    );
    expect(await settle(usd, ["usd-leg"], strict)).toEqual(usdSettled);
    const without = elements.filter((one) => !JSON.stringify(one).includes('"contractId":"rule"'));
    const both = await settle(usd, ["00ff"], rulesOn(without, { rejectsUnknownAllocations: true }));
    expect(both).toEqual(refused(404, "00ff", "TransferRule"));
    expect(await settle(usd, ["00ff"], rulesOn(without))).toEqual(refused(404, "TransferRule"));
  });

  test("is not found if it is archived; one of another registrar is as one that never was", async () => {
    const archived = rulesOn(elements, { archived: ["usd-leg", "of-other"] });
    expect(await settle(usd, ["usd-leg", "00ff", "twin"], archived)).toEqual(
      refused(404, "usd-leg", "has been archived"),
    );
    expect(await settle(usd, ["of-other"], archived)).toEqual(refused(404, "of-other", "not known here"));
  });

  test("is not left out if the ledger's end is not reached", async () => {
    const behind = rulesOn(elements, { catchUp: neverReached });
    expect(await settle(usd, ["00ff", "usd-leg"], behind)).toMatchObject({ status: 503 });
    expect(await settle(usd, ["usd-leg"], behind)).toEqual(usdSettled);
  });
});
