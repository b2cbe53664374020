/** Instrument configurations, alone, all and by pages; by which identifier instruments are found; operator and packages. */
import { describe, expect, test } from "vitest";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import type { JsonObject } from "../../src/util/json.js";
import { call as callOf } from "../fixtures/calls/build.js";
import { instrument, transferFactory } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { transferV1 } from "../fixtures/requests.js";
import { ask, refused, rulesOn } from "../fixtures/rules.js";

const { registrar } = parties;
const { method } = InstrumentConfigurationService;
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const configuration = (id: string, of: string, options: Options = {}, more: JsonObject = {}) =>
  element("InstrumentConfiguration", id, payload.configuration(of, more), options);
const identifiedBy = (...ids: readonly string[]): JsonObject => ({
  additionalIdentifiers: ids.map((id) => ({ source: "ISO", id, scheme: "ISO 4217" })),
});

const lookUp = (body: JsonObject): Call => callOf(method.getInstrumentConfiguration, body);
const find = (instrumentIdentifier: JsonObject, of: string = registrar): Call =>
  lookUp({ registrar: of, instrumentIdentifier });
const all = callOf(method.getAllInstrumentConfigurations);
const pages = callOf(method.listInstrumentConfigurations);
const page = (query: string): Call => ({ ...pages, path: `${pages.path}?${query}` });

const [internal, iso, figi] = [
  { source: registrar, id: "USD", scheme: "Internal" },
  { source: "ISO", id: "US0000000001", scheme: "ISIN" },
  { source: "OpenFIGI", id: "BBG000000001", scheme: "FIGI" },
];
const usd = {
  additionalIdentifiers: [iso, figi],
  issuerRequirements: [requirement(["isIssuerOf=USD", "isIn=CH"])],
  holderRequirements: [
    { issuer: "issuer-2::1220", requiredClaims: [{ _1: 'says "yes"', _2: "à la carte, \\ and more" }] },
    requirement([]),
  ],
};
const whole = {
  contract: {
    contractId: "usd",
    templateId: "pkg-1:Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
    createdAt: "2026-01-05T09:00:00.000000Z",
    synchronizerId: "sync-A",
    domainId: "sync-A",
  },
  payload: {
    operator: "operator::1220",
    provider: "provider::1220",
    registrar: "registrar::1220",
    defaultIdentifier: internal,
    additionalIdentifiers: [iso, figi],
    issuerRequirements: [
      {
        issuer: "issuer::1220",
        requiredClaims: '[{"property":"isIssuerOf","value":"USD"},{"property":"isIn","value":"CH"}]',
      },
    ],
    holderRequirements: [
      {
        issuer: "issuer-2::1220",
        requiredClaims: String.raw`[{"property":"says \"yes\"","value":"à la carte, \\ and more"}]`,
      },
      { issuer: "issuer::1220", requiredClaims: "[]" },
    ],
  },
};

describe("the configuration of an instrument", () => {
  const rules = rulesOn(
    registryOf({ configuration: configuration("usd", "USD", {}, usd) }, configuration("eur", "EUR")),
  );

  test.each([internal, iso, figi])("is found by each identifier, with all fields: $id", async (identifier) => {
    expect(await rules.body(find(identifier))).toEqual(whole);
  });

  test("has empty lists without requirements and additional identifiers", async () => {
    expect(await rules.body(find({ ...internal, id: "EUR" }))).toMatchObject({
      payload: { additionalIdentifiers: [], issuerRequirements: [], holderRequirements: [] },
    });
  });

  test.each<[string, Call, readonly string[]]>([
    ["an unknown id", find({ ...internal, id: "GBP" }), ["GBP"]],
    ["the id of one identifier with the source of another", find({ ...internal, source: "ISO" }), ["USD"]],
    ["the id of one identifier with the scheme of another", find({ ...iso, scheme: "FIGI" }), [iso.id]],
    ["another registrar", find(internal, "registrar-2::1220"), ["registrar-2::1220"]],
  ])("is not found for %s", async (_what, call, named) => {
    expect(await rules.ask(call)).toEqual(refused(404, ...named));
  });

  test.each<[string, JsonObject]>([
    ["registrar", { instrumentIdentifier: internal }],
    ["instrumentIdentifier", { registrar }],
    ["instrumentIdentifier", { registrar, instrumentIdentifier: "USD" }],
    ["instrumentIdentifier.source", { registrar, instrumentIdentifier: { id: "USD", scheme: "Internal" } }],
    ["instrumentIdentifier.id", { registrar, instrumentIdentifier: { source: registrar, scheme: "Internal" } }],
    ["instrumentIdentifier.scheme", { registrar, instrumentIdentifier: { source: registrar, id: "USD" } }],
    ["id", { registrar, instrumentIdentifier: { ...internal, id: 5 } }],
  ])("needs %s, and the message says so (case %#)", async (field, body) => {
    expect(await rules.ask(lookUp(body))).toEqual(refused(400, field));
  });

  test.each(["unassigned", "arriving"] as const)(
    "is a conflict while it is %s, unless an older one is active",
    async (moving) => {
      const young = configuration("young", "USD", { ...newer, moving });
      expect(await ask([young], find(internal))).toEqual(refused(409));
      expect(await ask([young, configuration("old", "USD")], find(internal))).toMatchObject({
        contract: { contractId: "old" },
      });
    },
  );

  test("is the newest, wherever it is", async () => {
    const young = configuration("young", "USD", { ...newer, synchronizerId: "sync-B" });
    const answer = await ask([configuration("usd", "USD"), young], find(internal));
    expect(answer).toMatchObject({ contract: { contractId: "young", synchronizerId: "sync-B", domainId: "sync-B" } });
  });
});

interface Listed {
  readonly instrumentConfigurations: readonly { readonly contract: { readonly contractId: string } }[];
}
/** A list with contract ids instead of configurations. */
async function listed(elements: readonly JsonObject[], call: Call): Promise<JsonObject> {
  const { instrumentConfigurations, ...numbers } = (await rulesOn(elements).body(call)) as JsonObject & Listed;
  return { ids: instrumentConfigurations.map(({ contract }) => contract.contractId), ...numbers };
}

describe("all configurations", () => {
  test("have all fields", async () => {
    const elements = registryOf({ configuration: configuration("usd", "USD", {}, usd) });
    expect(await rulesOn(elements).body(all)).toEqual({ instrumentConfigurations: [whole] });
    expect(await listed([], all)).toEqual({ ids: [] });
  });

  const other = "registrar-0::1220";
  const ofOther = { registrar: other, defaultIdentifier: { source: other, id: "USD", scheme: "Internal" } };
  const ofIso = { defaultIdentifier: { source: "ISO", id: "USD", scheme: "Internal" } };

  test.each<[string, readonly JsonObject[], readonly string[]]>([
    [
      "are sorted by registrar and id",
      [
        configuration("a", "USD"),
        configuration("b", "usd"),
        configuration("c", "CHF"),
        configuration("d", "USD", {}, ofOther),
        configuration("e", "EUR", { synchronizerId: "sync-B" }),
      ],
      ["d", "c", "e", "a", "b"],
    ],
    [
      "of one id from two sources are two",
      [configuration("a", "USD"), configuration("b", "USD", newer, ofIso)],
      ["b", "a"],
    ],
    [
      "of one identifier are the newest",
      [configuration("a", "USD"), configuration("b", "USD", { ...newer, packageId: "pkg-2" })],
      ["b"],
    ],
    [
      "of one identifier and time are the lower contract id",
      [configuration("b", "USD"), configuration("a", "USD")],
      ["a"],
    ],
    [
      "leave out those that are unassigned",
      [configuration("a", "USD", { moving: "unassigned" }), configuration("b", "EUR")],
      ["b"],
    ],
    [
      "leave out those that arrive, but no older ones",
      [configuration("a", "USD", { ...newer, moving: "arriving" }), configuration("b", "USD")],
      ["b"],
    ],
  ])("%s", async (_what, elements, ids) => {
    expect(await listed(elements, all)).toEqual({ ids });
    expect(await listed(elements.toReversed(), all)).toEqual({ ids });
  });
});

const at = (second: number): Options => ({ createdAt: `2026-01-05T09:00:0${second}.000000Z` });

describe("a page of configurations", () => {
  /** Created in the order c, a, b and d (at the same time), e. Their ids sort otherwise. */
  const five = [
    configuration("a", "ZAR", at(2)),
    configuration("b", "YER", at(3)),
    configuration("c", "XAF", at(1)),
    configuration("d", "CHF", at(3)),
    configuration("e", "AUD", at(4)),
  ];
  const MAX = 2_147_483_647;

  test.each<[query: string, ids: string[], currentPage: number, totalPages: number, pageSize: number]>([
    ["", ["c", "a", "b", "d", "e"], 0, 1, 25],
    ["page=0&size=2", ["c", "a"], 0, 3, 2],
    ["size=2", ["c", "a"], 0, 3, 2],
    ["page=1&size=2", ["b", "d"], 1, 3, 2],
    ["page=2&size=2", ["e"], 2, 3, 2],
    ["page=3&size=2", [], 3, 3, 2],
    ["page=0&size=5", ["c", "a", "b", "d", "e"], 0, 1, 5],
    ["page=1", [], 1, 1, 25],
    [`page=${MAX}&size=${MAX}`, [], MAX, 1, 1_000],
  ])("for %j", async (query, ids, currentPage, totalPages, pageSize) => {
    expect(await listed(five, page(query))).toEqual({ ids, currentPage, totalPages, pageSize, totalElements: 5 });
  });

  test("is empty, with no pages, where there is no configuration", async () => {
    const numbers = { currentPage: 0, totalPages: 0, pageSize: 25, totalElements: 0 };
    expect(await listed([], page(""))).toEqual({ ids: [], ...numbers });
  });

  test("has whole configurations, and no others than the list of all", async () => {
    const superseded = configuration("old", "AUD", { createdAt: "2025-01-05T09:00:00.000000Z" });
    const moving = configuration("moving", "USD", { ...at(0), moving: "unassigned" });
    const rules = rulesOn([...five, superseded, moving]);
    const byId = async (call: Call) =>
      ((await rules.body(call)) as unknown as Listed).instrumentConfigurations.toSorted((a, b) =>
        a.contract.contractId < b.contract.contractId ? -1 : 1,
      );
    expect(await byId(all)).toHaveLength(5);
    expect(await byId(page(""))).toEqual(await byId(all));
  });

  test("has 25 configurations by default and 1,000 at most", async () => {
    const many = Array.from({ length: 1_003 }, (_, index) => String(index).padStart(4, "0"));
    const elements = many.map((number) => configuration(`c${number}`, `I${number}`));
    expect(await listed(elements, page(""))).toMatchObject({ ids: { length: 25 }, totalPages: 41 });
    const last = { currentPage: 1, totalPages: 2, pageSize: 1_000, totalElements: 1_003 };
    for (const size of [1_000, 1_001])
      expect(await listed(elements, page(`page=1&size=${size}`))).toEqual({
        ids: ["c1000", "c1001", "c1002"],
        ...last,
      });
  });

  test.each([
    ["page=-1", "page must be at least 0, but is -1"],
    ["page=1.5", "page must be an integer"],
    ["page=", "page must be an integer"],
    ["page=2147483648", "page"],
    ["page=0&page=1", "page"],
    ["size=0", "size: must be greater than or equal to 1"],
    ["size=-1", "size"],
    ["size=x", "size must be an integer"],
  ])("is 400 for %s", async (query, named) => {
    expect(await ask(five, page(query))).toEqual(refused(400, named));
  });
});

const external = (id: string) => ({ source: "ISO", id, scheme: "ISO 4217" });

/** A choice compares default identifiers alone. Configurations and metadata are found by additional ones too. */
describe("of several that list an identifier", () => {
  const rules = rulesOn(
    registryOf(
      { configuration: configuration("usd", "USD", {}, identifiedBy("840")) },
      configuration("thief", "EUR", newer, identifiedBy("USD", "840")),
      configuration("early", "CHF", { createdAt: "2026-01-01T09:00:00.000000Z" }, identifiedBy("USD", "840")),
      configuration("gbp", "GBP", {}, identifiedBy("GBP")),
      configuration("sek", "SEK", newer, identifiedBy("GBP")),
    ),
  );

  test.each<[string, JsonObject, string]>([
    ["its default identifier", internal, "usd"],
    ["an additional one, the newest", external("840"), "thief"],
    ["one that is another's default id under another scheme", external("USD"), "thief"],
    ["one that is the id of an older default one from another source", external("GBP"), "sek"],
  ])("a configuration is found by %s", async (_how, identifier, contractId) => {
    expect(await rules.body(find(identifier))).toMatchObject({ contract: { contractId } });
  });

  test.each([
    ["its default identifier, before a newer one that lists it", "USD", "USD"],
    ["an additional one, that of the newest configuration", "840", "EUR"],
  ])("metadata finds an instrument by %s", async (_how, id, found) => {
    expect(await rules.body(instrument(registrar, id))).toMatchObject({ id: found });
  });

  test("an instrument is named by no default identifier of another", async () => {
    const executor = await rules.executor();
    const { value: named } = await executor.execute((registry, context) => registry.instruments(context, registrar));
    expect(Object.fromEntries(named.map(({ id, otherIds }) => [id, otherIds]))).toMatchObject({
      EUR: ["840"],
      GBP: [],
      SEK: [],
    });
  });

  test("a choice finds none by an additional one", async () => {
    const instrumentId = { admin: registrar, id: "840" };
    const call = transferFactory("v1", transferV1("alice", "bob", { instrumentId }));
    expect(await rules.ask(call)).toEqual(refused(404, 'InstrumentConfiguration of instrument "840"'));
  });
});

describe("the operator", () => {
  const operator = callOf(OperatorService.method.getOperator);
  const two = registryOf(
    {},
    element("AllocationFactory", "a", payload.service({ operator: "operator-2::1220" }), newer),
  );

  test.each([
    ["is the party that the factory names", registryOf(), { partyId: "operator::1220" }],
    ["is that of the newest factory", two, { partyId: "operator-2::1220" }],
    ["is that of the newest factory, whatever the order", two.toReversed(), { partyId: "operator-2::1220" }],
    ["is not found if no factory names one", [], refused(404, "operator")],
  ])("%s", async (_what, elements, expected) => {
    expect(await ask(elements, operator)).toEqual(expected);
  });
});

const rule = (id: string, packageId: string) => element("TransferRule", id, payload.service(), { packageId });

test("the packages are those of the stored contracts, each once, sorted by name and id", async () => {
  const packages = callOf(OperatorService.method.getAllPackages);
  const elements = [
    ...registryOf({}, ...instructions()).toReversed(),
    rule("c", "pkg-3"),
    rule("a", "pkg-2"),
    rule("d", "pkg-2"),
    rule("b", "pkg-10"),
  ];
  const first = ["splice-amulet", "utility-credential-v0", "utility-registry-app-v0", "utility-registry-holding-v0"];
  const upgraded = ["pkg-1", "pkg-10", "pkg-2", "pkg-3"];
  expect(await rulesOn(elements).body(packages)).toEqual({
    packages: [
      ...first.map((name) => ({ name, id: "pkg-1" })),
      ...upgraded.map((id) => ({ name: "utility-registry-v0", id })),
    ],
  });
  expect(await rulesOn([]).body(packages)).toEqual({ packages: [] });
});
