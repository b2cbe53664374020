/** A choice compares the default identifier of an instrument: additional ones find configurations and metadata only. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { instrument } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { useRegistry } from "../fixtures/registries.js";
import { instrumentConfiguration } from "../fixtures/requests.js";
import { complete, groupElements, rowsOf } from "./table.js";

const { registrar } = parties;
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const additional = (...ids: readonly string[]): JsonObject => ({
  additionalIdentifiers: ids.map((id) => ({ source: "ISO", id, scheme: "ISO 4217" })),
});
const configuration = (contractId: string, id: string, more: JsonObject = {}, options: Options = {}) =>
  element("InstrumentConfiguration", contractId, payload.configuration(id, more), options);

/** USD is also 840. A newer configuration lists USD and 840 as well, and so does one that was the first. */
const elements = [
  ...complete(additional("840")),
  configuration("thief", "EUR", additional("USD", "840"), newer),
  configuration("early", "CHF", additional("USD", "840"), { createdAt: "2026-01-01T09:00:00.000000Z" }),
];

/** The call for another instrument: of the request, or of the instruction. */
const about = (id: string, { body, request, ...call }: Call): Call => ({
  ...call,
  ...(JSON.parse(JSON.stringify({ body: body ?? null, request }).replaceAll('"USD"', `"${id}"`)) as Pick<
    Call,
    "body" | "request"
  >),
});

const needsConfiguration = rowsOf("").table.filter(
  ({ needs, name }) => needs.includes("usd") && !name.includes("direct"),
);
const { factories, creations, onInstructions } = rowsOf("");

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const url = useRegistry(elements);

  test.each([...factories, ...creations, ...onInstructions])(
    "the configuration of a choice is that of the default identifier: $name",
    async ({ call, disclosed }) => {
      expect(shortOutcome(await send(url(), call))).toMatchObject({ disclosed });
    },
  );

  describe("an additional identifier resolves nothing for a choice", () => {
    /** The instructions are about 840. */
    const of840 = JSON.parse(
      JSON.stringify(groupElements("", {}, additional("840")))
        .replaceAll('{"admin":"registrar::1220","id":"USD"}', '{"admin":"registrar::1220","id":"840"}')
        .replaceAll('"id":"USD","admin"', '"id":"840","admin"'),
    ) as JsonObject[];
    const on840 = useRegistry(of840);

    test.each(needsConfiguration)("$name", async ({ call }) => {
      expect(shortOutcome(await send(on840(), about("840", call)))).toEqual(
        refused(404, 'InstrumentConfiguration of instrument "840"'),
      );
    });

    test("a transfer to oneself goes on without a configuration", async () => {
      const toSelf = factories.find(({ name }) => name === "v1 transfer-factory, self");
      const answer = toSelf && shortOutcome(await send(on840(), about("840", toSelf.call)));
      expect(answer).toMatchObject({ transferKind: "self", disclosed: ["factory", "rule"] });
    });
  });

  describe("metadata finds an instrument", () => {
    test.each([
      ["by its default identifier, before a newer one that lists it", "USD", "USD"],
      ["by an additional one, that of the newest configuration", "840", "EUR"],
    ])("%s", async (_how, id, found) => {
      const outcome = await send(url(), instrument(registrar, id));
      expect(outcome).toMatchObject({ ok: true, answer: { id: found } });
    });
  });
});

describe("the configuration of an instrument is found", () => {
  const url = useRegistry([
    ...elements,
    configuration("gbp", "GBP", additional("GBP")),
    configuration("sek", "SEK", additional("GBP"), newer),
  ]);

  test.each<[string, JsonObject, string]>([
    ["by its default identifier", { source: registrar, id: "USD", scheme: "Internal" }, "usd"],
    ["by an additional one, the newest that lists it", { source: "ISO", id: "840", scheme: "ISO 4217" }, "thief"],
    [
      "by an additional one that is another's default id under another scheme",
      { source: "ISO", id: "USD", scheme: "ISO 4217" },
      "thief",
    ],
    [
      "by an additional one, also where it is the id of an older default one from another source",
      { source: "ISO", id: "GBP", scheme: "ISO 4217" },
      "sek",
    ],
  ])("%s", async (_how, instrumentIdentifier, contractId) => {
    const response = await fetch(url() + instrumentConfiguration, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ registrar, instrumentIdentifier }),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ contract: { contractId } });
  });
});
