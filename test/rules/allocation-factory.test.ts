import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { account, allocationFactory, allocationV1, allocationV2, legSide, replaced } from "../fixtures/requests.js";
import { contractId, contractIds, disclosedBy, failure, map, prefixed, short } from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve, type ServeOptions, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

/** Besides USD: EUR, whose holders need another credential, and CHF, which requires none. */
const needsEur = { holderRequirements: [requirement(["holds=EUR"])] };
const added = [
  element("InstrumentConfiguration", "eur", payload.configuration("EUR", needsEur)),
  element("InstrumentConfiguration", "chf", payload.configuration("CHF")),
  element("Credential", "alice-holds-eur", payload.credential("alice", ["holds=EUR"])),
];

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...added));
});
afterAll(() => running.close());

const alice = account("alice");
const one = {
  factoryId: "factory",
  values: prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds("alice-holds") }),
  disclosed: ["alice-holds", "factory", "usd"],
};
const v1 = allocationV1("alice", "bob");
const v2 = allocationV2(alice, [legSide("SenderSide", "USD")]);
const leg = "choiceArguments.allocation.transferLeg";

describe.each(["v1", "v2"] as const)("under the path of %s", (version) => {
  const ask = async (body: JsonObject, of = running) => short(await of.post(allocationFactory(version), body));
  const askIn = async (elements: JsonObject[], body = v1, options?: ServeOptions) =>
    ask(body, await serving(elements, options));

  test.each([
    ["v1", v1],
    ["v1, between accounts", replaced(v1, `${leg}.sender`, account(null, "alice"))],
    ["v1, without what the context does not depend on", replaced(v1, "choiceArguments.inputHoldingCids", undefined)],
    ["v1, with inputs", replaced(v1, "choiceArguments.inputHoldingCids", ["h1", "h2"])],
    ["v1, to a receiver without credentials", allocationV1("alice", "dave")],
    ["v2", v2],
    ["v2, by an account that a provider keeps", allocationV2(account(null, "alice"), [legSide("SenderSide", "USD")])],
    [
      "v2, with two sides in one instrument",
      allocationV2(alice, [legSide("SenderSide", "USD"), legSide("ReceiverSide", "USD")]),
    ],
  ])("the shape of %s gets the factory, the configuration and the credentials", async (_, body) => {
    expect(await ask(body)).toEqual(one);
  });

  test("an authorizer that only receives needs no credentials", async () => {
    expect(await ask(allocationV2(account("dave"), [legSide("ReceiverSide", "USD")]))).toEqual({
      factoryId: "factory",
      values: prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds() }),
      disclosed: ["factory", "usd"],
    });
  });

  // A decision: several configurations are in a map, as for a settlement.
  test("several instruments have only the map, and credentials for those that are sent", async () => {
    const body = allocationV2(alice, [
      legSide("SenderSide", "USD"),
      legSide("ReceiverSide", "EUR"),
      legSide("SenderSide", "CHF"),
    ]);
    expect(await ask(body)).toEqual({
      factoryId: "factory",
      values: prefixed({
        "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") }),
        "sender-credentials": contractIds("alice-holds"),
      }),
      disclosed: ["alice-holds", "chf", "eur", "factory", "usd"],
    });
    const both = await ask(allocationV2(alice, [legSide("SenderSide", "EUR"), legSide("SenderSide", "USD")]));
    expect(both).toMatchObject({ disclosed: ["alice-holds", "alice-holds-eur", "eur", "factory", "usd"] });
  });

  test("discloses contracts in the token standard's form, without debug fields on request", async () => {
    const plain = {
      templateId: "pkg-1:Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
      contractId: "factory",
      createdEventBlob: blobOf("factory"),
      synchronizerId: "sync-A",
    };
    const answer = await running.post(allocationFactory(version), v1);
    expect(Object.keys(answer.body as JsonObject).toSorted()).toEqual(["choiceContext", "factoryId"]);
    expect(disclosedBy(answer)).toContainEqual({
      ...plain,
      debugPackageName: "utility-registry-app-v0",
      debugPayload: payload.service(),
      debugCreatedAt: "2026-01-05T09:00:00.000000Z",
    });
    const without = await running.post(allocationFactory(version), { ...v1, excludeDebugFields: true });
    expect(disclosedBy(without)).toContainEqual(plain);
  });

  test("a missing required contract is not found, and the message names it", async () => {
    const gbp = { instrumentId: { admin: parties.registrar, id: "GBP" } };
    expect(await ask(allocationV1("alice", "bob", gbp))).toEqual(failure(404, "GBP"));
    const two = [legSide("SenderSide", "USD"), legSide("ReceiverSide", "GBP")];
    expect(await ask(allocationV2(alice, two))).toEqual(failure(404, "GBP"));
    expect(await askIn(registryOf({ factory: undefined }))).toEqual(failure(404, "AllocationFactory"));
    const theirs = JSON.parse(JSON.stringify(v1).replaceAll(parties.registrar, "nobody::1220")) as JsonObject;
    const nobody = await running.post(allocationFactory(version, "nobody::1220"), theirs);
    expect(short(nobody)).toEqual(failure(404, "nobody::1220"));
  });

  test.each([
    ["v1", allocationV1("dave", "bob")],
    ["v2", allocationV2(account("dave"), [legSide("SenderSide", "USD")])],
  ])(
    "by a party without credentials has an empty list, and is not found if they are required (%s)",
    async (_, body) => {
      expect(await ask(body)).toEqual({
        factoryId: "factory",
        values: prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds() }),
        disclosed: ["factory", "usd"],
      });
      const named = ["dave", parties.issuer, "holds", "USD"];
      expect(await askIn(registryOf(), body, WITH_CREDENTIALS_REQUIRED)).toEqual(failure(404, ...named));
    },
  );

  test("the newest factory wins unless its synchronizer lacks required contracts", async () => {
    const newer = { createdAt: "2026-02-05T09:00:00.000000Z", packageId: "pkg-2" };
    const newest = element("AllocationFactory", "newest", payload.service(), newer);
    expect(await askIn(registryOf({}, newest))).toMatchObject({ factoryId: "newest" });
    const elsewhere = element("AllocationFactory", "newest", payload.service(), { ...newer, synchronizerId: "sync-B" });
    expect(await askIn(registryOf({}, elsewhere))).toEqual(one);
  });

  test("needs no rule, rewards and service", async () => {
    const without = { rule: undefined, reward: undefined, right: undefined, service: undefined, bob: undefined };
    expect(await askIn(registryOf(without))).toEqual(one);
    expect(await askIn(registryOf(without), v2)).toEqual(one);
  });

  test.each<[string, Options]>([
    ["has left its synchronizer", { moving: "unassigned" }],
    ["is arriving", { moving: "arriving" }],
    ["is on another synchronizer", { synchronizerId: "sync-B" }],
  ])("is a conflict if a required contract %s", async (_, options) => {
    const needs = { holderRequirements: [requirement(["holds=USD"])] };
    const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", needs), options);
    expect(await askIn(registryOf({ configuration }))).toEqual(failure(409));
    const credential = payload.credential("alice", ["holds=USD"]);
    expect(await askIn(registryOf({ alice: element("Credential", "alice-holds", credential, options) }))).toEqual(
      failure(409),
    );
  });
});
