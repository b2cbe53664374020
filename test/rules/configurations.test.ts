/** Instrument configurations, alone, all and by pages; by which identifier instruments are found; operator and packages. */
import { describe, expect, test } from "vitest";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import type { JsonObject } from "../../src/domain/json.js";
import { get, utility } from "../fixtures/calls/build.js";
import { instrument } from "../fixtures/calls/metadata.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { ask, refused, rulesOn } from "../fixtures/rules.js";
import { complete, factories, groupElements, table } from "./table.js";

const { registrar } = parties;
const { method } = InstrumentConfigurationService;
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const configuration = (id: string, of: string, options: Options = {}, more: JsonObject = {}) =>
  element("InstrumentConfiguration", id, payload.configuration(of, more), options);
const identifiedBy = (...ids: readonly string[]): JsonObject => ({
  additionalIdentifiers: ids.map((id) => ({ source: "ISO", id, scheme: "ISO 4217" })),
});

const lookUp = (body: JsonObject): Call =>
  utility(method.getInstrumentConfiguration, "/contract/instrument-configuration", body);
const find = (instrumentIdentifier: JsonObject, of: string = registrar): Call =>
  lookUp({ registrar: of, instrumentIdentifier });
const all = get(method.getAllInstrumentConfigurations, "/api/utilities/v0/contract/instrument-configuration/all");
const page = (query: string): Call =>
  get(method.listInstrumentConfigurations, `/api/utilities/v0/contract/instrument-configuration/paginated?${query}`);

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
  const named = (source: string, scheme: string) => ({ defaultIdentifier: { source, id: "USD", scheme } });

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

  test("with the same id and another source or scheme are different", async () => {
    const elements = [
      configuration("a", "USD", {}, named(registrar, "Internal")),
      configuration("b", "USD", newer, named("ISO", "Internal")),
      configuration("c", "USD", newer, named(registrar, "ISO 4217")),
    ];
    const { ids } = (await listed(elements, all)) as unknown as { readonly ids: readonly string[] };
    expect(ids.toSorted()).toEqual(["a", "b", "c"]);
  });
});

describe("a page of configurations", () => {
  const at = (second: number): Options => ({ createdAt: `2026-01-05T09:00:0${second}.000000Z` });
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

/** USD is also 840. A newer configuration lists USD and 840 as well, and so does one that was the first. */
describe("of several that list an identifier", () => {
  const elements = [
    ...complete(identifiedBy("840")),
    configuration("thief", "EUR", newer, identifiedBy("USD", "840")),
    configuration("early", "CHF", { createdAt: "2026-01-01T09:00:00.000000Z" }, identifiedBy("USD", "840")),
    configuration("gbp", "GBP", {}, identifiedBy("GBP")),
    configuration("sek", "SEK", newer, identifiedBy("GBP")),
  ];
  const rules = rulesOn(elements);

  test.each(table)("a choice has the configuration of the default identifier: $name", async ({ call, disclosed }) => {
    expect((await rules.context(call)).disclosed).toEqual(disclosed);
  });

  test.each<[string, JsonObject, string]>([
    ["by its default identifier", internal, "usd"],
    ["by an additional one, the newest", { source: "ISO", id: "840", scheme: "ISO 4217" }, "thief"],
    [
      "by one that is another's default id under another scheme",
      { source: "ISO", id: "USD", scheme: "ISO 4217" },
      "thief",
    ],
    [
      "by one that is the id of an older default one from another source",
      { source: "ISO", id: "GBP", scheme: "ISO 4217" },
      "sek",
    ],
  ])("a configuration is found %s", async (_how, identifier, contractId) => {
    expect(await rules.body(find(identifier))).toMatchObject({ contract: { contractId } });
  });

  test.each([
    ["by its default identifier, before a newer one that lists it", "USD", "USD"],
    ["by an additional one, that of the newest configuration", "840", "EUR"],
  ])("metadata finds an instrument %s", async (_how, id, found) => {
    expect(await rules.body(instrument(registrar, id))).toMatchObject({ id: found });
  });
});

describe("an additional identifier resolves nothing for a choice", () => {
  /** The instructions and the requests are about 840. */
  const about840 = <T>(value: T, pattern: RegExp): T =>
    JSON.parse(JSON.stringify(value).replaceAll(pattern, (text) => text.replace("USD", "840"))) as T;
  const instrumentId = /\{"admin":"registrar::1220","id":"USD"\}/g;
  const rules = rulesOn(about840(groupElements("", {}, identifiedBy("840")), instrumentId));
  const on840 = (call: Call): Call =>
    call.body === undefined ? call : { ...call, body: about840(call.body, /"USD"/g) };

  test.each(table.filter(({ needs, name }) => needs.includes("usd") && !name.includes("direct")))(
    "$name",
    async ({ call }) => {
      expect(await rules.ask(on840(call))).toEqual(refused(404, 'InstrumentConfiguration of instrument "840"'));
    },
  );

  test.each(factories.filter(({ name }) => name.endsWith("self")))(
    "but a transfer to oneself goes on: $name",
    async ({ call }) => {
      expect(await rules.ask(on840(call))).toMatchObject({ transferKind: "self", disclosed: ["factory", "rule"] });
    },
  );
});

describe("the operator", () => {
  const operator = get(OperatorService.method.getOperator, "/api/utilities/v0/operator");
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

describe("the packages", () => {
  const packages = async (elements: readonly JsonObject[]) => {
    const response = await rulesOn(elements).body(
      get(OperatorService.method.getAllPackages, "/api/utilities/v0/package/all"),
    );
    return (response as unknown as { packages: { name: string; id: string }[] }).packages.map(
      ({ name, id }) => `${name} ${id}`,
    );
  };
  const rule = (id: string, packageId: string) => element("TransferRule", id, payload.service(), { packageId });

  test("are those of the stored contracts, each once, sorted by name", async () => {
    expect(await packages([])).toEqual([]);
    const names = [
      "splice-amulet",
      "utility-credential-v0",
      "utility-registry-app-v0",
      "utility-registry-holding-v0",
      "utility-registry-v0",
    ];
    expect(await packages(registryOf({}, ...instructions()).toReversed())).toEqual(
      names.map((name) => `${name} pkg-1`),
    );
  });

  test("have several ids of one name after an upgrade, sorted by id", async () => {
    const elements = [
      ...[rule("c", "pkg-3"), rule("a", "pkg-2"), rule("d", "pkg-2"), rule("b", "pkg-10")],
      element("AllocationFactory", "factory", payload.service(), { packageId: "pkg-9" }),
      element("MintRequest", "mint", payload.mint("alice", "USD"), { packageId: "pkg-8" }),
    ];
    const [app, registry] = ["utility-registry-app-v0", "utility-registry-v0"];
    expect(await packages(elements)).toEqual([
      ...["pkg-8", "pkg-9"].map((id) => `${app} ${id}`),
      ...["pkg-10", "pkg-2", "pkg-3"].map((id) => `${registry} ${id}`),
    ]);
  });
});
