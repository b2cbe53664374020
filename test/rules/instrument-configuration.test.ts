import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { instrumentConfiguration } from "../fixtures/requests.js";
import { short, utilityFailure } from "../fixtures/context.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { serving } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

const internal = { source: parties.registrar, id: "USD", scheme: "Internal" };
const iso = { source: "ISO", id: "US0000000001", scheme: "ISIN" };
const figi = { source: "OpenFIGI", id: "BBG000000001", scheme: "FIGI" };

const usd = payload.configuration("USD", {
  additionalIdentifiers: [iso, figi],
  issuerRequirements: [requirement(["isIssuerOf=USD", "isIn=CH"])],
  holderRequirements: [
    requirement(["isHolderOf=USD"]),
    { issuer: "issuer-2::1220", requiredClaims: [{ _1: 'says "yes"', _2: "à la carte, \\ and more" }] },
    requirement([]),
  ],
});

const request = (instrumentIdentifier: JsonObject, registrar: string = parties.registrar): JsonObject => ({
  registrar,
  instrumentIdentifier,
});

let running: Running;
beforeAll(async () => {
  running = await serve([
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", usd),
    element("InstrumentConfiguration", "eur", payload.configuration("EUR")),
  ]);
});
afterAll(() => running.close());

describe("the configuration of an instrument", () => {
  test.each([
    ["its default identifier", internal],
    ["an additional identifier", iso],
    ["another additional identifier", figi],
  ])("is found by %s, with all fields", async (_, identifier) => {
    const answer = await running.post(instrumentConfiguration, request(identifier));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
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
        additionalIdentifiers: [
          { source: "ISO", id: "US0000000001", scheme: "ISIN" },
          { source: "OpenFIGI", id: "BBG000000001", scheme: "FIGI" },
        ],
        issuerRequirements: [
          {
            issuer: "issuer::1220",
            requiredClaims: '[{"property":"isIssuerOf","value":"USD"},{"property":"isIn","value":"CH"}]',
          },
        ],
        holderRequirements: [
          { issuer: "issuer::1220", requiredClaims: '[{"property":"isHolderOf","value":"USD"}]' },
          {
            issuer: "issuer-2::1220",
            requiredClaims: String.raw`[{"property":"says \"yes\"","value":"à la carte, \\ and more"}]`,
          },
          { issuer: "issuer::1220", requiredClaims: "[]" },
        ],
      },
    });
  });

  test("has empty lists without requirements and additional identifiers", async () => {
    const identifier = { source: parties.registrar, id: "EUR", scheme: "Internal" };
    const { body } = await running.post(instrumentConfiguration, request(identifier));
    expect(body).toMatchObject({
      contract: { contractId: "eur" },
      payload: { additionalIdentifiers: [], issuerRequirements: [], holderRequirements: [] },
    });
  });

  test("is the newest one", async () => {
    const younger = { createdAt: "2026-02-05T09:00:00.123456Z", synchronizerId: "sync-B" };
    const upgraded = await serving([
      element("InstrumentConfiguration", "usd", usd),
      element("InstrumentConfiguration", "usd-2", usd, younger),
    ]);
    expect((await upgraded.post(instrumentConfiguration, request(internal))).body).toMatchObject({
      contract: {
        contractId: "usd-2",
        createdAt: "2026-02-05T09:00:00.123456Z",
        synchronizerId: "sync-B",
        domainId: "sync-B",
      },
    });
  });

  test.each<[string, Options]>([
    ["has left its synchronizer", { moving: "unassigned" }],
    ["is arriving", { moving: "arriving" }],
  ])("that %s is a conflict", async (_, options) => {
    const moving = await serving([
      element("AllocationFactory", "factory", payload.service()),
      element("InstrumentConfiguration", "usd", usd, options),
    ]);
    const answer = await moving.post(instrumentConfiguration, request(internal));
    expect(short(answer)).toEqual(utilityFailure(409));
  });
});

describe("no configuration is found", () => {
  test.each([
    ["for an unknown id", request({ ...internal, id: "GBP" }), "GBP"],
    ["for the id of one identifier with the source of another", request({ ...internal, source: "ISO" }), "USD"],
    ["for the id of one identifier with the scheme of another", request({ ...iso, scheme: "FIGI" }), "US0000000001"],
    ["for another registrar", request(internal, "registrar-2::1220"), "registrar-2::1220"],
  ])("%s", async (_, body, named) => {
    const answer = await running.post(instrumentConfiguration, body);
    expect(short(answer)).toEqual(utilityFailure(404, named));
  });
});

describe("a bad request", () => {
  const { source, id, scheme } = internal;
  test.each<[string, JsonObject, string]>([
    ["registrar", { instrumentIdentifier: internal }, "registrar"],
    ["instrumentIdentifier", { registrar: parties.registrar }, "instrumentIdentifier"],
    ["source", request({ id, scheme }), "instrumentIdentifier.source"],
    ["id", request({ source, scheme }), "instrumentIdentifier.id"],
    ["scheme", request({ source, id }), "instrumentIdentifier.scheme"],
    ["string as id", request({ source, id: 5, scheme }), "id"],
    ["object as instrumentIdentifier", { registrar: parties.registrar, instrumentIdentifier: "USD" }, "nstrument"],
  ])("lacks %s, and the message says so", async (_, body, named) => {
    const answer = await running.post(instrumentConfiguration, body);
    expect(short(answer)).toEqual(utilityFailure(400, named));
  });
});
