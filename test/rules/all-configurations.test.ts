import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { allInstrumentConfigurations, instrumentConfiguration } from "../fixtures/requests.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";

const other = "registrar-0::1220";
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const configuration = (contractId: string, id: string, options?: Options, more: JsonObject = {}) =>
  element("InstrumentConfiguration", contractId, payload.configuration(id, more), options);

/** The contract ids of all configurations, in answer order. */
async function all(...elements: JsonObject[]): Promise<unknown> {
  const { status, body } = await (await serving(elements)).get(allInstrumentConfigurations);
  const { instrumentConfigurations, ...others } = body as { instrumentConfigurations: { contract: JsonObject }[] };
  expect([status, others]).toEqual([200, {}]);
  return instrumentConfigurations.map(({ contract }) => contract["contractId"]);
}

test("all fields of the answer", async () => {
  const argument = payload.configuration("USD", {
    additionalIdentifiers: [{ source: "ISO", id: "US0000000001", scheme: "ISIN" }],
    issuerRequirements: [requirement(["isIssuerOf=USD", "isIn=CH"])],
    holderRequirements: [requirement([])],
  });
  const usd = element("InstrumentConfiguration", "usd", argument);
  const running = await serving(registryOf({ configuration: usd }));
  const { status, body } = await running.get(allInstrumentConfigurations);
  expect(status).toBe(200);
  expect(body).toEqual({
    instrumentConfigurations: [
      {
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
          defaultIdentifier: { source: "registrar::1220", id: "USD", scheme: "Internal" },
          additionalIdentifiers: [{ source: "ISO", id: "US0000000001", scheme: "ISIN" }],
          issuerRequirements: [
            {
              issuer: "issuer::1220",
              requiredClaims: '[{"property":"isIssuerOf","value":"USD"},{"property":"isIn","value":"CH"}]',
            },
          ],
          holderRequirements: [{ issuer: "issuer::1220", requiredClaims: "[]" }],
        },
      },
    ],
  });
  const one = await running.post(instrumentConfiguration, {
    registrar: parties.registrar,
    instrumentIdentifier: { source: parties.registrar, id: "USD", scheme: "Internal" },
  });
  expect(body).toEqual({ instrumentConfigurations: [one.body] });
});

test("the list is empty without contracts", async () => {
  expect(await all()).toEqual([]);
});

test("they are sorted by registrar and id, whatever the contract ids and the order of the file", async () => {
  const ofOther = { registrar: other, defaultIdentifier: { source: other, id: "USD", scheme: "Internal" } };
  const elements = [
    configuration("a", "USD"),
    configuration("b", "usd"),
    configuration("c", "CHF"),
    configuration("d", "USD", {}, ofOther),
    configuration("e", "EUR", { synchronizerId: "sync-B" }),
  ];
  expect(await all(...elements)).toEqual(["d", "c", "e", "a", "b"]);
  expect(await all(...elements.toReversed())).toEqual(["d", "c", "e", "a", "b"]);
});

test("of several for one identifier the newest is listed, in a tie the lower contract id", async () => {
  const old = configuration("a", "USD");
  const young = configuration("b", "USD", { ...newer, packageId: "pkg-2" });
  expect(await all(old, young)).toEqual(["b"]);
  expect(await all(young, old)).toEqual(["b"]);
  expect(await all(configuration("b", "USD"), old)).toEqual(["a"]);
});

const named = (source: string, scheme: string) => ({ defaultIdentifier: { source, id: "USD", scheme } });

test("identifiers with the same id and another source or scheme are different", async () => {
  const elements = [
    configuration("a", "USD", {}, named(parties.registrar, "Internal")),
    configuration("b", "USD", newer, named("ISO", "Internal")),
    configuration("c", "USD", newer, named(parties.registrar, "ISO 4217")),
  ];
  const found = await all(...elements);
  expect(found).toHaveLength(3);
  expect(found).toEqual(expect.arrayContaining(["a", "b", "c"]));
});

test.each(["unassigned", "arriving"] as const)("one that is %s is left out, the others are not", async (moving) => {
  expect(await all(configuration("usd", "USD", { moving }), configuration("eur", "EUR"))).toEqual(["eur"]);
  const young = configuration("young", "USD", { ...newer, moving });
  expect(await all(configuration("old", "USD"), young)).toEqual(["old"]);
});
