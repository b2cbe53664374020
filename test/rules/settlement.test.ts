import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { account, leg, settlement, settlementFactory } from "../fixtures/requests.js";
import { contractId, contractIds, failure, map, prefixed, resultContracts, short } from "../fixtures/context.js";
import { blobOf, element, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve, WITH_CREDENTIALS_REQUIRED, WITH_REWARDS } from "../fixtures/run-service.js";

const alice = account("alice");
const bob = account("bob");
const carol = account("carol");

/** Besides USD, whose holders need a credential: EUR, which requires another, and CHF, which requires none. */
const needs = (claim: string) => ({ holderRequirements: [requirement([claim])] });
const added = [
  element("InstrumentConfiguration", "eur", payload.configuration("EUR", needs("holds=EUR"))),
  element("InstrumentConfiguration", "chf", payload.configuration("CHF")),
  element("Credential", "bob-holds-eur", payload.credential("bob", ["holds=EUR"])),
  element("Credential", "carol-holds-eur", payload.credential("carol", ["holds=EUR"])),
  element("DvpLegAllocation", "usd-leg", payload.allocation("alice", "bob", "USD", "locked-usd")),
  element("DvpLegAllocation", "eur-leg", payload.allocation("bob", "carol", "EUR", "locked-eur")),
  element("DvpLegAllocation", "chf-leg", payload.allocation("carol", "alice", "CHF", "locked-chf")),
  element("Holding", "locked-usd", payload.lockedHolding("alice", "USD")),
  element("Holding", "locked-eur", payload.lockedHolding("bob", "EUR")),
  element("Holding", "locked-chf", payload.lockedHolding("carol", "CHF")),
];

const rewards = { "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") };

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...added));
});
afterAll(() => running.close());

const ask = async (legs: JsonObject[], ids: string[]) =>
  short(await running.post(settlementFactory(), settlement(legs, ids)));

/** Bob's two credentials, in any order. */
const isBobs = (list: JsonObject[]): boolean =>
  list.length === 2 && ["bob-holds", "bob-holds-eur"].every((id) => list.some(({ value }) => value === id));

describe("the context", () => {
  const ofOneLeg = {
    ...prefixed({
      "transfer-rule": contractId("rule"),
      "instrument-configurations": map({ USD: contractId("usd") }),
      "instrument-configuration": contractId("usd"),
      "holder-credentials": map({ alice: contractIds("alice-holds"), bob: contractIds("bob-holds") }),
    }),
    ...resultContracts(true),
  };

  test("of one instrument has its configuration and the map", async () => {
    expect(await ask([leg(alice, bob, "USD")], ["usd-leg"])).toEqual({
      factoryId: "factory",
      values: ofOneLeg,
      disclosed: ["alice-holds", "bob-holds", "factory", "locked-usd", "rule", "usd", "usd-leg"],
    });
  });

  test("has the reward entries too if they are on", async () => {
    const rewarding = await serving(registryOf({}, ...added), WITH_REWARDS);
    const body = settlement([leg(alice, bob, "USD")], ["usd-leg"]);
    expect(short(await rewarding.post(settlementFactory(), body))).toEqual({
      factoryId: "factory",
      values: { ...ofOneLeg, ...prefixed(rewards) },
      disclosed: ["alice-holds", "bob-holds", "factory", "locked-usd", "reward", "right", "rule", "usd", "usd-leg"],
    });
  });

  test("of two legs in one instrument is the same", async () => {
    expect(await ask([leg(alice, bob, "USD"), leg(bob, alice, "USD")], ["usd-leg"])).toMatchObject({
      values: prefixed({ "instrument-configuration": contractId("usd") }),
    });
  });

  test("of many instruments has only the map, and each owner's credentials for its instruments", async () => {
    const legs = [leg(alice, bob, "USD"), leg(carol, bob, "EUR"), leg(carol, alice, "CHF")];
    const answer = await ask(legs, ["usd-leg", "eur-leg", "chf-leg"]);
    const { values, ...others } = answer as { values: Record<string, { value: Record<string, { value: unknown[] }> }> };
    const { "utility.digitalasset.com/holder-credentials": holders, ...entries } = values;
    expect(entries).toEqual({
      ...prefixed({
        "transfer-rule": contractId("rule"),
        "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") }),
      }),
      ...resultContracts(true),
    });
    expect(holders).toEqual(
      map({
        alice: contractIds("alice-holds"),
        bob: { tag: "AV_List", value: expect.toSatisfy(isBobs) as unknown as string },
        carol: contractIds("carol-holds-eur"),
      }),
    );
    expect(others).toEqual({
      factoryId: "factory",
      disclosed: [
        "alice-holds",
        "bob-holds",
        "bob-holds-eur",
        "carol-holds-eur",
        "chf",
        "chf-leg",
        "eur",
        "eur-leg",
        "factory",
        "locked-chf",
        "locked-eur",
        "locked-usd",
        "rule",
        "usd",
        "usd-leg",
      ],
    });
  });

  test("has an empty list for an owner without requirements, and leaves out optional entries", async () => {
    const changes = { reward: undefined, right: undefined, service: undefined };
    const body = settlement([leg(carol, alice, "CHF")], ["chf-leg"]);
    for (const options of [{}, WITH_REWARDS]) {
      const without = await serving(registryOf(changes, ...added), options);
      expect(short(await without.post(settlementFactory(), body))).toEqual({
        factoryId: "factory",
        values: prefixed({
          "transfer-rule": contractId("rule"),
          "instrument-configurations": map({ CHF: contractId("chf") }),
          "instrument-configuration": contractId("chf"),
          "holder-credentials": map({ alice: contractIds(), carol: contractIds() }),
        }),
        disclosed: ["chf", "chf-leg", "factory", "locked-chf", "rule"],
      });
    }
  });

  test("treats accounts of one party as one holder, by owner or else by provider", async () => {
    const legs = [leg(account("alice", "bank", "1"), account(null, "bob", "2"), "USD"), leg(alice, bob, "USD")];
    expect(await ask(legs, ["usd-leg"])).toMatchObject({
      values: prefixed({
        "holder-credentials": map({ alice: contractIds("alice-holds"), bob: contractIds("bob-holds") }),
      }),
    });
  });

  test.each(["constructor", "toString", "1"])("accepts the id %s", async (id) => {
    const odd = await serving(
      registryOf(
        {},
        element("InstrumentConfiguration", "odd", payload.configuration(id)),
        element("DvpLegAllocation", "odd-leg", payload.allocation(id, "bob", id, "locked-odd")),
        element("Holding", "locked-odd", payload.lockedHolding(id, id)),
      ),
    );
    const answer = await odd.post(settlementFactory(), settlement([leg(account(id), account(id), id)], ["odd-leg"]));
    const { values } = short(answer) as { values: JsonObject };
    expect(JSON.stringify(values["utility.digitalasset.com/instrument-configurations"])).toBe(
      `{"tag":"AV_Map","value":{"${id}":{"tag":"AV_ContractId","value":"odd"}}}`,
    );
    expect(JSON.stringify(values["utility.digitalasset.com/holder-credentials"])).toBe(
      `{"tag":"AV_Map","value":{"${id}":{"tag":"AV_List","value":[]}}}`,
    );
  });

  test("discloses a repeated allocation and a shared holding once", async () => {
    const twin = element("DvpLegAllocation", "twin", payload.allocation("alice", "bob", "USD", "locked-usd"));
    const twins = await serving(registryOf({}, ...added, twin));
    const body = settlement([leg(alice, bob, "USD")], ["usd-leg", "twin", "usd-leg"]);
    const { disclosed } = short(await twins.post(settlementFactory(), body));
    expect(disclosed).toEqual(["alice-holds", "bob-holds", "factory", "locked-usd", "rule", "twin", "usd", "usd-leg"]);
  });

  test("discloses contracts in the token standard's form", async () => {
    const answer = await running.post(settlementFactory(), settlement([leg(alice, bob, "USD")], ["usd-leg"]));
    const { choiceContext } = answer.body as { choiceContext: { disclosedContracts: JsonObject[] } };
    expect(choiceContext.disclosedContracts).toContainEqual({
      templateId: "pkg-1:Utility.Registry.V0.Holding.Allocation:DvpLegAllocation",
      contractId: "usd-leg",
      createdEventBlob: blobOf("usd-leg"),
      synchronizerId: "sync-A",
      debugPackageName: "utility-registry-v0",
      debugPayload: payload.allocation("alice", "bob", "USD", "locked-usd"),
      debugCreatedAt: "2026-01-05T09:00:00.000000Z",
    });
    expect(Object.keys(answer.body as JsonObject).toSorted()).toEqual(["choiceContext", "factoryId"]);
  });
});

describe("a settlement requires", () => {
  test("an allocation of the same registrar", async () => {
    const other = "registrar-2::1220";
    const argument = JSON.stringify(payload.allocation("alice", "bob", "USD", "locked-usd"));
    const ofOther = JSON.parse(argument.replaceAll(parties.registrar, other)) as JsonObject;
    const others = element("DvpLegAllocation", "of-other", ofOther);
    const factory = element("AllocationFactory", "factory-2", payload.service({ registrar: other }));
    const both = await serving(registryOf({}, ...added, others, factory));
    const body = settlement([leg(alice, bob, "USD")], ["usd-leg", "of-other"]);
    expect(short(await both.post(settlementFactory(), body))).toEqual(failure(404, "of-other"));
  });

  test("a configuration of each instrument", async () => {
    expect(await ask([leg(alice, bob, "USD"), leg(alice, bob, "GBP")], ["usd-leg"])).toEqual(failure(404, "GBP"));
  });

  test("the credentials of each owner, receivers included, if credentials are required", async () => {
    const legs = [leg(alice, carol, "USD")];
    expect(await ask(legs, ["usd-leg"])).toMatchObject({
      values: prefixed({ "holder-credentials": map({ alice: contractIds("alice-holds"), carol: contractIds() }) }),
    });
    const strict = await serving(registryOf({}, ...added), WITH_CREDENTIALS_REQUIRED);
    const answer = await strict.post(settlementFactory(), settlement(legs, ["usd-leg"]));
    expect(short(answer)).toEqual(failure(404, "carol", parties.issuer, "holds", "USD"));
  });

  test("the locked holding of each allocation", async () => {
    const gone = element("DvpLegAllocation", "gone", payload.allocation("alice", "bob", "USD", "locked-gone"));
    const lacking = await serving(registryOf({}, ...added, gone));
    const body = settlement([leg(alice, bob, "USD")], ["usd-leg", "gone"]);
    expect(short(await lacking.post(settlementFactory(), body))).toEqual(failure(404, "locked-gone"));
  });

  test("a transfer rule", async () => {
    const lacking = await serving(registryOf({ rule: undefined }, ...added));
    const body = settlement([leg(alice, bob, "USD")], ["usd-leg"]);
    expect(short(await lacking.post(settlementFactory(), body))).toEqual(failure(404, "TransferRule"));
  });

  test("at least one leg", async () => {
    expect(await ask([], ["usd-leg"])).toEqual(failure(400, "leg"));
  });
});
