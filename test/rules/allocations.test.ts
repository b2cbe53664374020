/** Allocations: the factory in both versions, and the choices on an allocation instruction. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { allocationFactory, onAllocationInstruction } from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed } from "../fixtures/context.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { account, allocationV1, allocationV2, legSide, replaced } from "../fixtures/requests.js";
import { ask, CREDENTIALS_REQUIRED, refused, rulesOn } from "../fixtures/rules.js";

const versions = ["v1", "v2"] as const;
/** Besides USD: EUR, whose holders need another credential, CHF, which requires none, and T0 to T25. */
const euros = { holderRequirements: [requirement(["holds=EUR"])] };
const added = [
  element("InstrumentConfiguration", "eur", payload.configuration("EUR", euros)),
  element("InstrumentConfiguration", "chf", payload.configuration("CHF")),
  element("Credential", "alice-holds-eur", payload.credential("alice", ["holds=EUR"])),
  ...Array.from({ length: 26 }, (_, i) => element("InstrumentConfiguration", `t${i}`, payload.configuration(`T${i}`))),
];
const rules = rulesOn(registryOf({}, ...added, ...instructions()));

const alice = account("alice");
const [sends, receives] = ["SenderSide", "ReceiverSide"];
const one = (credentials = contractIds("alice-holds")): JsonObject => ({
  "instrument-configuration": contractId("usd"),
  "sender-credentials": credentials,
});
const answered = (entries: JsonObject, ...disclosed: readonly string[]): JsonObject => ({
  factoryId: "factory",
  values: prefixed(entries),
  disclosed: [...disclosed, "factory"].toSorted((a, b) => (a < b ? -1 : 1)),
});
const ofUsd = answered(one(), "alice-holds", "usd");
const withoutCredentials = answered(one(contractIds()), "usd");

const v1 = allocationV1("alice", "bob");
const v2 = allocationV2(alice, [legSide(sends, "USD")]);
const allocation = "choiceArguments.allocation";
const leg = `${allocation}.transferLeg`;
const sides = `${allocation}.transferLegSides`;
const funding = (ofSides: readonly JsonObject[], value: JsonValue): JsonObject =>
  replaced(allocationV2(alice, ofSides), `${allocation}.nextIterationFunding`, value);

const sidesOf = (count: number) =>
  allocationV2(
    alice,
    Array.from({ length: count }, () => legSide(sends, "USD")),
  );
/** Of as many instruments. */
const receivingOf = (count: number) =>
  allocationV2(
    alice,
    Array.from({ length: count }, (_, i) => legSide(receives, `T${i}`)),
  );

describe.each(versions)("the factory under the path of %s", (version) => {
  const allocate = (body: JsonObject) => rules.ask(allocationFactory(version, body));

  test.each<[string, JsonObject, JsonObject]>([
    ["v1", v1, ofUsd],
    ["v1, between accounts", replaced(v1, `${leg}.sender`, account(null, "alice")), ofUsd],
    ["v1, with inputs", replaced(v1, "choiceArguments.inputHoldingCids", ["h1", "h2"]), ofUsd],
    ["v1, to a receiver without credentials", allocationV1("alice", "dave"), ofUsd],
    ["v1, by a party without credentials", allocationV1("dave", "bob"), withoutCredentials],
    ["v2", v2, ofUsd],
    ["v2, by a party without credentials", allocationV2(account("dave"), [legSide(sends, "USD")]), withoutCredentials],
    ["v2, by an account that a provider keeps", allocationV2(account(null, "alice"), [legSide(sends, "USD")]), ofUsd],
    [
      "v2, with two sides in one instrument",
      allocationV2(alice, [legSide(sends, "USD"), legSide(receives, "USD")]),
      ofUsd,
    ],
    ["v2, that only receives", allocationV2(alice, [legSide(receives, "USD")]), withoutCredentials],
  ])("answers the shape of %s", async (_shape, body, expected) => {
    expect(await allocate(body)).toEqual(expected);
  });

  // A decision: several configurations are in a map, as for a settlement.
  test("several instruments have only the map, and credentials for those that are sent", async () => {
    const body = allocationV2(alice, [legSide(sends, "USD"), legSide(receives, "EUR"), legSide(sends, "CHF")]);
    const configurations = map({ USD: contractId("usd"), EUR: contractId("eur"), CHF: contractId("chf") });
    const entries = { "instrument-configurations": configurations, "sender-credentials": contractIds("alice-holds") };
    expect(await allocate(body)).toEqual(answered(entries, "alice-holds", "chf", "eur", "usd"));
    const { disclosed } = await allocate(allocationV2(alice, [legSide(sends, "EUR"), legSide(sends, "USD")]));
    expect(disclosed).toEqual(["alice-holds", "alice-holds-eur", "eur", "factory", "usd"]);
  });

  test("an unknown instrument is named; so is what is missing where credentials are required", async () => {
    const gbp = { instrumentId: { admin: parties.registrar, id: "GBP" } };
    expect(await allocate(allocationV1("alice", "bob", gbp))).toEqual(refused(404, "GBP"));
    const two = allocationV2(alice, [legSide(sends, "USD"), legSide(receives, "GBP")]);
    expect(await allocate(two)).toEqual(refused(404, "GBP"));
    const call = allocationFactory(version, allocationV2(account("dave"), [legSide(sends, "USD")]));
    expect(await ask(registryOf(), call, CREDENTIALS_REQUIRED)).toEqual(refused(404, "dave", "holds = USD"));
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments.expectedAdmin", v1],
    [`${leg}.instrumentId.admin`, v1],
    ["choiceArguments.expectedAdmin", v2],
    [`${allocation}.admin`, v2],
  ])("%s must be the registrar of the path (case %#)", async (field, body) => {
    const name = field.split(".").at(-1) ?? "";
    expect(await allocate(replaced(body, field, "registrar-2::1220"))).toEqual(refused(400, name));
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments", v1],
    [allocation, v1],
    [leg, v1],
    [`${leg}.sender`, v1],
    [`${leg}.instrumentId`, v1],
    [`${leg}.instrumentId.admin`, v1],
    [`${leg}.instrumentId.id`, v1],
    [`${allocation}.authorizer`, v2],
    [`${allocation}.admin`, v2],
    [`${sides}[0].instrumentId`, v2],
    [`${sides}[0].side`, v2],
  ])("%s is required, and the message names it", async (field, body) => {
    const name = field.split(".").at(-1) ?? "";
    for (const value of [undefined, 5, null])
      expect(await allocate(replaced(body, field, value))).toEqual(refused(400, name));
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ["an account without owner and provider", allocationV2(account(null), []), ["authorizer"]],
    ...["senderside", "Sender", ""].map((side): [string, JsonObject, string[]] => [
      `the side "${side}"`,
      allocationV2(alice, [legSide(side, "USD")]),
      ["side"],
    ]),
    ["sides that are no list", replaced(v2, sides, "text"), ["transferLegSides"]],
    ["a side that is no object", replaced(v2, `${sides}[0]`, null), ["transferLegSides[0]"]],
    ["neither a leg nor sides", replaced(v2, sides, undefined), ["transferLeg", "transferLegSides"]],
    ["sides that are null", replaced(v2, sides, null), ["transferLeg", "transferLegSides"]],
    ...["USD", ["USD"], [{ USD: "1.0" }]].map((value): [string, JsonObject, string[]] => [
      `the funding ${JSON.stringify(value)}`,
      funding([], value),
      ["nextIterationFunding"],
    ]),
  ])("rejects %s", async (_what, body, named) => {
    expect(await allocate(body)).toEqual(refused(400, ...named));
  });

  test.each<[string, JsonObject]>([
    ["choiceArguments.expectedAdmin", v1],
    [`${allocation}.settlement`, v1],
    [`${leg}.amount`, v1],
    ["choiceArguments.inputHoldingCids", v1],
    ["choiceArguments.settlement", v2],
    ["choiceArguments.extraArgs", v2],
    [`${sides}[0].otherside`, v2],
    [`${sides}[0].amount`, v2],
  ])("%s is optional", async (field, body) => {
    expect(await allocate(replaced(body, field, undefined))).toEqual(ofUsd);
  });

  test("100 sides and 25 instruments are allowed, one more exceeds the limit", async () => {
    expect(await allocate(sidesOf(100))).toEqual(ofUsd);
    expect(await allocate(sidesOf(101))).toEqual(refused(400, " 100", "legs"));
    expect(await allocate(receivingOf(25))).toMatchObject({ factoryId: "factory" });
    expect(await allocate(receivingOf(26))).toEqual(refused(400, " 25", "instruments"));
  });
});

const allocateV2 = (body: JsonObject) => rules.ask(allocationFactory("v2", body));

describe("an allocation of version 2 without legs", () => {
  /** The JSON Ledger API has two encodings of maps. */
  const encodings: readonly (readonly [string, (...ids: readonly string[]) => JsonValue])[] = [
    ["an object", (...ids) => Object.fromEntries(ids.map((id) => [id, "1.0"]))],
    ["a list of pairs", (...ids) => ids.map((id) => [id, "1.0"])],
  ];

  test.each<[string, JsonObject]>([
    ["committed", { committed: true, nextIterationFunding: null }],
    ["not committed", { committed: false }],
    ["with an empty object as funding", { nextIterationFunding: {} }],
    ["with an empty list as funding", { nextIterationFunding: [] }],
  ])("names no instrument, and needs no credentials: %s", async (_what, more) => {
    const terms = (allocationV2(alice, []) as { choiceArguments: { allocation: JsonObject } }).choiceArguments
      .allocation;
    const body = replaced(v2, allocation, { ...terms, ...more });
    expect(await allocateV2(body)).toEqual(answered({ "sender-credentials": contractIds() }));
  });

  test.each(encodings)("that funds iterations, as %s, is about those instruments", async (_what, encode) => {
    expect(await allocateV2(funding([], encode("USD")))).toEqual(ofUsd);
    const configurations = map({ EUR: contractId("eur"), CHF: contractId("chf") });
    const entries = {
      "instrument-configurations": configurations,
      "sender-credentials": contractIds("alice-holds-eur"),
    };
    expect(await allocateV2(funding([], encode("EUR", "CHF")))).toEqual(
      answered(entries, "alice-holds-eur", "chf", "eur"),
    );
  });

  test("that has sides too is about the instruments of both, and sends what it funds", async () => {
    const body = funding([legSide(receives, "USD"), legSide(sends, "CHF")], { EUR: "1.0", CHF: "2.0" });
    const configurations = map({ USD: contractId("usd"), CHF: contractId("chf"), EUR: contractId("eur") });
    const entries = {
      "instrument-configurations": configurations,
      "sender-credentials": contractIds("alice-holds-eur"),
    };
    expect(await allocateV2(body)).toEqual(answered(entries, "alice-holds-eur", "chf", "eur", "usd"));
    expect(await allocateV2(funding([], { GBP: "1.0" }))).toEqual(refused(404, "GBP"));
  });
});

/** The Registry Utility makes allocations at once. */
describe.each(["accept", "withdraw"] as const)("to %s an allocation instruction", (choice) => {
  test.each(["00ff", "allocation", "offer"])("is a bad request for any contract id (%s)", async (id) => {
    expect(await rules.ask(onAllocationInstruction(choice, id))).toEqual(refused(400, "allocation instruction"));
  });
});
