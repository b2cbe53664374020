/** Version 2: allocations without legs, and settlements whose allocations have extra sides or fund a next iteration. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { allocationFactory, settlementFactory } from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed, resultContracts } from "../fixtures/context.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { registryOf, useRegistry } from "../fixtures/registries.js";
import { account, allocationV2, leg, legSide, replaced, settlement } from "../fixtures/requests.js";

const [alice, bob] = [account("alice"), account("bob")];
const burn = account(null, null, "cip-112/burn");

/** Besides USD: EUR, whose holders need another credential, and CHF, which requires none. */
const euros = { holderRequirements: [requirement(["holds=EUR"])] };
const holdsEur = (party: string) =>
  element("Credential", `${party}-holds-eur`, payload.credential(party, ["holds=EUR"]));
const elements = registryOf(
  {},
  element("InstrumentConfiguration", "eur", payload.configuration("EUR", euros)),
  element("InstrumentConfiguration", "chf", payload.configuration("CHF")),
  holdsEur("alice"),
  holdsEur("carol"),
  element("DvpLegAllocation", "of-alice", payload.allocation("alice", "bob", "USD", "locked")),
  element("DvpLegAllocation", "of-carol", payload.allocation("carol", "bob", "EUR", "locked-eur")),
  element("Holding", "locked", payload.lockedHolding("alice", "USD")),
  element("Holding", "locked-eur", payload.lockedHolding("carol", "EUR")),
);

/** Replaces or adds fields of the allocation in a request of version 2. */
const allocating = (sides: readonly JsonObject[], more: JsonObject): JsonObject => {
  const body = allocationV2(alice, sides);
  const { choiceArguments } = body as { choiceArguments: { allocation: JsonObject } };
  return replaced(body, "choiceArguments.allocation", { ...choiceArguments.allocation, ...more });
};

const asObject = (...ids: readonly string[]): JsonValue => Object.fromEntries(ids.map((id) => [id, "1.0"]));
const asPairs = (...ids: readonly string[]): JsonValue => ids.map((id) => [id, "1.0"]);
/** The JSON Ledger API has two encodings of maps. */
const encodings = [
  ["an object", asObject],
  ["a list of pairs", asPairs],
] as const;

/** A settlement of one leg in USD, from alice to bob. */
const settling = (...allocations: readonly JsonObject[]): JsonObject => {
  const body = settlement([leg(alice, bob, "USD")], []);
  return replaced(body, "choiceArguments.allocations", [...allocations]);
};
const side = (instrumentId: string, otherside: JsonObject): JsonObject => ({
  ...legSide("ReceiverSide", instrumentId),
  otherside,
});

const usdOnly = {
  "instrument-configurations": map({ USD: contractId("usd") }),
  "instrument-configuration": contractId("usd"),
};
const settled = (entries: JsonObject, ...disclosed: readonly string[]): JsonObject => ({
  factoryId: "factory",
  values: { ...prefixed({ "transfer-rule": contractId("rule"), ...entries }), ...resultContracts(true) },
  disclosed: ["alice-holds", "bob-holds", "factory", "rule", "usd", ...disclosed].toSorted((a, b) => (a < b ? -1 : 1)),
});
const ofAlice = { allocationCid: "of-alice", extraTransferLegSides: [], nextIterationFunding: null };

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const url = useRegistry(elements);
  const ask = async (call: Call) => shortOutcome(await send(url(), call));
  const askFor = (sides: readonly JsonObject[], more: JsonObject) =>
    ask(allocationFactory("v2", allocating(sides, more)));
  const settle = (...allocations: readonly JsonObject[]) => ask(settlementFactory(settling(...allocations)));

  describe("an allocation without legs", () => {
    test.each<[string, JsonObject]>([
      ["that is committed", { committed: true, nextIterationFunding: null }],
      ["that is not committed", { committed: false }],
      ["whose funding is an empty object", { nextIterationFunding: {} }],
      ["whose funding is an empty list", { nextIterationFunding: [] }],
    ])("%s names no instrument, and needs no credentials", async (_what, more) => {
      expect(await askFor([], more)).toEqual({
        factoryId: "factory",
        values: prefixed({ "sender-credentials": contractIds() }),
        disclosed: ["factory"],
      });
    });

    test.each(encodings)("that funds iterations, as %s, is about those instruments", async (_what, encode) => {
      expect(await askFor([], { committed: true, nextIterationFunding: encode("USD") })).toEqual({
        factoryId: "factory",
        values: prefixed({
          "instrument-configuration": contractId("usd"),
          "sender-credentials": contractIds("alice-holds"),
        }),
        disclosed: ["alice-holds", "factory", "usd"],
      });
      expect(await askFor([], { nextIterationFunding: encode("EUR", "CHF") })).toEqual({
        factoryId: "factory",
        values: prefixed({
          "instrument-configurations": map({ EUR: contractId("eur"), CHF: contractId("chf") }),
          "sender-credentials": contractIds("alice-holds-eur"),
        }),
        disclosed: ["alice-holds-eur", "chf", "eur", "factory"],
      });
    });

    test("that has sides too is about the instruments of both, and sends what it funds", async () => {
      const sides = [legSide("ReceiverSide", "USD"), legSide("SenderSide", "CHF")];
      expect(await askFor(sides, { nextIterationFunding: { EUR: "1.0", CHF: "2.0" } })).toEqual({
        factoryId: "factory",
        values: prefixed({
          "instrument-configurations": map({
            USD: contractId("usd"),
            CHF: contractId("chf"),
            EUR: contractId("eur"),
          }),
          "sender-credentials": contractIds("alice-holds-eur"),
        }),
        disclosed: ["alice-holds-eur", "chf", "eur", "factory", "usd"],
      });
    });

    test.each<[string, JsonValue]>([
      ["a text", "USD"],
      ["a list of texts", ["USD"]],
      ["a list of objects", [{ USD: "1.0" }]],
    ])("is a bad request if its funding is %s", async (_what, nextIterationFunding) => {
      expect(await askFor([], { nextIterationFunding })).toEqual(refused(400, "nextIterationFunding"));
    });

    test("is not found if it funds an unknown instrument", async () => {
      expect(await askFor([], { nextIterationFunding: { GBP: "1.0" } })).toEqual(refused(404, "GBP"));
    });

    test("needs its list of sides, or a leg", async () => {
      for (const transferLegSides of [undefined, null]) {
        const body = replaced(allocationV2(alice, []), "choiceArguments.allocation.transferLegSides", transferLegSides);
        expect(await ask(allocationFactory("v2", body))).toEqual(refused(400, "transferLeg", "transferLegSides"));
      }
    });
  });

  describe("a settlement", () => {
    test.each<[string, JsonObject]>([
      ["empty", ofAlice],
      ["null", { allocationCid: "of-alice", extraTransferLegSides: null, nextIterationFunding: null }],
      ["absent", { allocationCid: "of-alice" }],
      ["an empty object", { allocationCid: "of-alice", nextIterationFunding: {} }],
    ])("whose allocation has extra sides and funding that are %s", async (_what, allocation) => {
      expect(await settle(allocation)).toEqual(
        settled(
          {
            ...usdOnly,
            "holder-credentials": map({ alice: contractIds("alice-holds"), bob: contractIds("bob-holds") }),
          },
          "locked",
          "of-alice",
        ),
      );
    });

    test("with an extra side needs the credentials of both its parties", async () => {
      const extraTransferLegSides = [side("EUR", account("carol"))];
      expect(await settle({ ...ofAlice, extraTransferLegSides })).toEqual(
        settled(
          {
            "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur") }),
            "holder-credentials": map({
              alice: contractIds("alice-holds", "alice-holds-eur"),
              bob: contractIds("bob-holds"),
              carol: contractIds("carol-holds-eur"),
            }),
          },
          "alice-holds-eur",
          "carol-holds-eur",
          "eur",
          "locked",
          "of-alice",
        ),
      );
    });

    test("with an extra side of a special account needs those of the allocation's sender", async () => {
      const extraTransferLegSides = [side("EUR", burn)];
      expect(await settle({ ...ofAlice, extraTransferLegSides })).toEqual(
        settled(
          {
            "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur") }),
            "holder-credentials": map({
              alice: contractIds("alice-holds", "alice-holds-eur"),
              bob: contractIds("bob-holds"),
            }),
          },
          "alice-holds-eur",
          "eur",
          "locked",
          "of-alice",
        ),
      );
    });

    test.each(encodings)("that funds a next iteration, as %s, needs those of its sender", async (_what, encode) => {
      const ofCarol = { allocationCid: "of-carol", nextIterationFunding: encode("EUR", "CHF") };
      expect(await settle(ofAlice, ofCarol)).toEqual(
        settled(
          {
            "instrument-configurations": map({
              USD: contractId("usd"),
              EUR: contractId("eur"),
              CHF: contractId("chf"),
            }),
            "holder-credentials": map({
              alice: contractIds("alice-holds"),
              bob: contractIds("bob-holds"),
              carol: contractIds("carol-holds-eur"),
            }),
          },
          "carol-holds-eur",
          "chf",
          "eur",
          "locked",
          "locked-eur",
          "of-alice",
          "of-carol",
        ),
      );
    });

    test("that funds only the instrument of its leg has its configuration alone", async () => {
      expect(await settle({ ...ofAlice, nextIterationFunding: { USD: "1.0" } })).toMatchObject({
        values: prefixed(usdOnly),
      });
    });

    test.each<[string, JsonObject, string]>([
      ["an extra side", { extraTransferLegSides: [side("GBP", bob)] }, "GBP"],
      ["funding", { nextIterationFunding: { GBP: "1.0" } }, "GBP"],
    ])("is not found if %s is in an unknown instrument", async (_what, more, named) => {
      expect(await settle({ ...ofAlice, ...more })).toEqual(refused(404, named));
    });

    test.each<[string, JsonObject, string]>([
      ["extra sides that are no list", { extraTransferLegSides: {} }, "extraTransferLegSides"],
      ["an extra side without an instrument", { extraTransferLegSides: [{ otherside: bob }] }, "instrumentId"],
      ["an extra side without a party", { extraTransferLegSides: [{ instrumentId: "EUR" }] }, "otherside"],
      [
        "an extra side of an account without owner and provider",
        { extraTransferLegSides: [side("EUR", account(null, null, "savings"))] },
        "otherside",
      ],
      ["funding that is no map", { nextIterationFunding: "EUR" }, "nextIterationFunding"],
    ])("is a bad request with %s", async (_what, more, named) => {
      expect(await settle({ ...ofAlice, ...more })).toEqual(refused(400, named));
    });

    test("needs a leg, even if its allocations have extra sides", async () => {
      const body = replaced(
        settling({ ...ofAlice, extraTransferLegSides: [side("EUR", bob)] }),
        "choiceArguments.transferLegs",
        [],
      );
      expect(await ask(settlementFactory(body))).toEqual(refused(400, "transferLegs"));
    });
  });
});
