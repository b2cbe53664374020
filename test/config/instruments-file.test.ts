/** The instruments file: what it may have, each mistake with line and column, and the service's answers with it. */
import { describe, expect, test } from "vitest";
import { checkInstruments, type InstrumentEntry, readInstruments } from "../../src/config/setting-files.js";
import { parseOperatorFile } from "../../src/util/operator-file.js";
import type { JsonObject } from "../../src/util/json.js";
import { lines, markedMistakes } from "../fixtures/contexts.js";
import { element, payload } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { serving } from "../fixtures/registries.js";
import { registry } from "../fixtures/run-service.js";

/** The entries of a valid file as plain objects. */
function parseValid(...texts: readonly string[]): Record<string, Record<string, InstrumentEntry>> {
  const { value = new Map(), problems } = parseOperatorFile(lines(...texts), checkInstruments);
  expect(problems).toBeUndefined();
  return Object.fromEntries([...value].map(([registrar, instruments]) => [registrar, Object.fromEntries(instruments)]));
}

describe("a valid file", () => {
  test("has each field of each instrument of each registrar", () => {
    const entries = parseValid(
      "acme::1220:",
      "  USD:",
      "    name: US dollar",
      '    symbol: "$"',
      "    decimals: 2",
      "    description: >-",
      "      A dollar,",
      "      on the ledger.",
      "    pauseInfo: { reason: Annual meeting, until: 2026-12-01T08:00:00Z }",
      "    showAccountInputFields: true",
      "    accountInputFieldsToShow: [provider, accountId]",
      "  EUR: { name: Euro, decimals: 10, accountInputFieldsToShow: [] }",
      '"other::1220":',
      "  'USD': { decimals: 0, pauseInfo: { until: \"2028-02-29T23:59:59.999999Z\" } }",
      "  JPY: {}",
      "none: {}",
    );
    expect(entries).toEqual({
      "acme::1220": {
        USD: {
          name: "US dollar",
          symbol: "$",
          decimals: 2,
          description: "A dollar, on the ledger.",
          pauseInfo: { reason: "Annual meeting", until: "2026-12-01T08:00:00Z" },
          showAccountInputFields: true,
          accountInputFieldsToShow: ["provider", "accountId"],
        },
        EUR: { name: "Euro", decimals: 10, accountInputFieldsToShow: [] },
      },
      "other::1220": { USD: { decimals: 0, pauseInfo: { until: "2028-02-29T23:59:59.999999Z" } }, JPY: {} },
      none: {},
    });
  });

  test.each(["", "# nothing yet", "{}"])("may be %j", (text) => {
    expect(parseValid(text)).toEqual({});
  });

  test("keeps ids as written, also those that look like another type", () => {
    const ids = ["0123", "1_000", "true", "no", "1.50", "2026-01-05", "a/b", "100%", "é 😀", "constructor"];
    const entries = parseValid("7:", ...ids.map((id) => `  ${id}: {name: "named ${id}"}`), '  "\\u0041": {name: A}');
    expect(entries["7"]).toEqual({
      ...Object.fromEntries(ids.map((id) => [id, { name: `named ${id}` }])),
      A: { name: "A" },
    });
  });
});

const mistakes = markedMistakes(`
- acme
^ must be a map, but is a list
acme: [USD]
^ acme: must be a map, but is a list
acme: { USD: Dollar }
        ^ acme.USD: must be a map, but is "Dollar"
acme: { USD: { constructor: a } }
               ^ acme.USD.constructor: is not a known field; known fields: name, symbol, decimals, description, pauseInfo, showAccountInputFields, accountInputFieldsToShow

acme: { USD: { decimals: 11 } }
               ^ acme.USD.decimals: must be an integer from 0 to 10, but is 11
acme: { USD: { decimals: -1 } }
               ^ acme.USD.decimals: must be an integer from 0 to 10, but is -1
acme: { USD: { decimals: 1.5 } }
               ^ acme.USD.decimals: must be an integer from 0 to 10, but is 1.5
acme: { USD: { name: "" } }
               ^ acme.USD.name: must be a non-empty string, but is ""
acme: { USD: { name: "  " } }
               ^ acme.USD.name: must be a non-empty string, but is "  "
acme: { USD: { name: 5 } }
               ^ acme.USD.name: must be a non-empty string, but is 5: write it in quotes
acme: { USD: { symbol: [a] } }
               ^ acme.USD.symbol: must be a non-empty string, but is a list
acme: { USD: { description: { en: a } } }
               ^ acme.USD.description: must be a non-empty string, but is a map

acme: { USD: { pauseInfo: soon } }
               ^ acme.USD.pauseInfo: must be a map, but is "soon"
acme: { USD: { pauseInfo: {} } }
               ^ acme.USD.pauseInfo: must have a reason or until
acme: { USD: { pauseInfo: { reason: a, since: b } } }
                                       ^ acme.USD.pauseInfo.since: is not a known field; known fields: reason, until
acme: { USD: { pauseInfo: { reason: '' } } }
                            ^ acme.USD.pauseInfo.reason: must be a non-empty string, but is ""
acme: { USD: { pauseInfo: { until: 2026-12-01 } } }
                            ^ acme.USD.pauseInfo.until: must be a time in UTC such as 2026-01-31T12:00:00Z, but is "2026-12-01"
acme: { USD: { pauseInfo: { until: "2026-12-01T08:00:00+01:00" } } }
                            ^ acme.USD.pauseInfo.until: must be a time in UTC such as 2026-01-31T12:00:00Z, but is "2026-12-01T08:00:00+01:00"
acme: { USD: { pauseInfo: { until: "2026-02-30T08:00:00Z" } } }
                            ^ acme.USD.pauseInfo.until: must be a time in UTC such as 2026-01-31T12:00:00Z, but is "2026-02-30T08:00:00Z"
acme: { USD: { showAccountInputFields: yes } }
               ^ acme.USD.showAccountInputFields: must be true or false, but is "yes"
acme: { USD: { accountInputFieldsToShow: provider } }
               ^ acme.USD.accountInputFieldsToShow: must be a list, but is "provider"
acme: { USD: { accountInputFieldsToShow: [provider, owner] } }
                                                    ^ acme.USD.accountInputFieldsToShow[1]: must be one of provider, accountId, but is "owner"
acme: { USD: { accountInputFieldsToShow: [provider, provider] } }
                                                    ^ acme.USD.accountInputFieldsToShow[1]: must be given once, but "provider" is there twice
`);

test.each(mistakes)("%s", (content, expected) => {
  expect(parseOperatorFile(content, checkInstruments).problems).toEqual([expected]);
});

const fileOf = (...texts: readonly string[]): Promise<string> => temporaryFile("instruments.yaml", lines(...texts));

test("a file that is not configured has nothing; a wrong one is an error with the variable, and path and line of all mistakes", async () => {
  expect(await readInstruments(undefined)).toEqual(new Map());
  const path = await fileOf("acme:", "  USD: { decimals: 11, name: 5 }", "  EUR:", "    symbol: ''", "other: 5");
  const error: unknown = await readInstruments(path).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    message: [
      "OFFLEDGER_INSTRUMENTS must be the path of a YAML file of instruments: ",
      `${path}:2:10: acme.USD.decimals: must be an integer from 0 to 10, but is 11`,
      `${path}:2:24: acme.USD.name: must be a non-empty string, but is 5: write it in quotes`,
      `${path}:4:5: acme.EUR.symbol: must be a non-empty string, but is ""`,
      `${path}:5:1: other: must be a map, but is 5`,
    ].join("\n"),
  });
});

const metadata = `${registry()}/metadata/v1`;
const serve = async (instruments: string, ...configurations: readonly JsonObject[]) =>
  serving(
    [
      element("AllocationFactory", "factory", payload.service()),
      ...configurations.map((one, index) => element("InstrumentConfiguration", `configuration-${index}`, one)),
    ],
    { config: { instruments } },
  );

test("the service answers with the file's entries, and with the id and ten decimals by default", async () => {
  const instruments = await fileOf(
    "registrar::1220:",
    "  EUR: {decimals: 0}",
    "  JPY: {symbol: ¥}",
    "  USD: {name: US dollar, symbol: $, decimals: 2, description: A dollar.}",
    "  GONE: {name: on no ledger}",
    "somebody::1220:",
    "  CHF: {name: of another registrar}",
  );
  const running = await serve(instruments, ...["CHF", "EUR", "JPY", "USD"].map((id) => payload.configuration(id)));
  const supportedApis = expect.any(Object) as unknown;
  const expected = [
    { id: "CHF", name: "CHF", symbol: "CHF", decimals: 10, supportedApis },
    { id: "EUR", name: "EUR", symbol: "EUR", decimals: 0, supportedApis },
    { id: "JPY", name: "JPY", symbol: "¥", decimals: 10, supportedApis },
    { id: "USD", name: "US dollar", symbol: "$", decimals: 2, description: "A dollar.", supportedApis },
  ];
  expect(await running.get(`${metadata}/instruments`)).toMatchObject({ status: 200, body: { instruments: expected } });
  for (const one of expected) expect((await running.get(`${metadata}/instruments/${one.id}`)).body).toEqual(one);
  expect((await running.get(`${metadata}/instruments/GONE`)).status).toBe(404);
});

test("the service answers with the entry of the default id, also for an additional id", async () => {
  const instruments = await fileOf("registrar::1220:", "  USD: {name: by default}", "  ISIN: {name: by another}");
  const additionalIdentifiers = [{ source: "registrar::1220", id: "ISIN", scheme: "ISIN" }];
  const running = await serve(instruments, payload.configuration("USD", { additionalIdentifiers }));
  expect((await running.get(`${metadata}/instruments/ISIN`)).body).toMatchObject({ id: "USD", name: "by default" });
});
