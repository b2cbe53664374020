/** The instruments file: parsing, problems, and the service's answers with it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkInstruments, type InstrumentEntry, readInstruments } from "../../src/config/setting-files.js";
import { SettingError } from "../../src/config/setting.js";
import { parseOperatorFile } from "../../src/util/operator-file.js";
import type { JsonObject } from "../../src/domain/json.js";
import { element, payload } from "../fixtures/elements.js";
import { serving } from "../fixtures/registries.js";
import { registry } from "../fixtures/run-service.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-instruments-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeLines(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

const parse = (lines: readonly string[]) => parseOperatorFile(joinLines(lines), checkInstruments);

/** The entries of a valid file as plain objects. */
function parseValid(...lines: readonly string[]): Record<string, Record<string, InstrumentEntry>> {
  const { value = new Map(), problems } = parse(lines);
  expect(problems).toBeUndefined();
  return Object.fromEntries([...value].map(([registrar, instruments]) => [registrar, Object.fromEntries(instruments)]));
}

/** Without their columns. */
const problemsOf = (...lines: readonly string[]): readonly string[] =>
  (parse(lines).problems ?? []).map((problem) => problem.replace(/^(\d+):\d+:/, "$1:"));

test("a deeply nested file is a problem with its line, and does not end the process", () => {
  expect(problemsOf("acme:", `  USD: ${"[".repeat(20_000)}`)).toEqual([
    "2: values must be nested at most 100 levels deep",
  ]);
});

describe("a valid file", () => {
  test("has each field of each instrument of each registrar", () => {
    const entries = parseValid(
      "# what our wallets show",
      "acme::1220:",
      "  USD:",
      "    name: US dollar",
      '    symbol: "$"',
      "    decimals: 2",
      "    description: >-",
      "      A dollar,",
      "      on the ledger.",
      "  EUR: {name: Euro}",
      '"other::1220":',
      "  'USD': {decimals: 0}",
      "  JPY: {}",
    );
    expect(entries).toEqual({
      "acme::1220": {
        USD: { name: "US dollar", symbol: "$", decimals: 2, description: "A dollar, on the ledger." },
        EUR: { name: "Euro" },
      },
      "other::1220": { USD: { decimals: 0 }, JPY: {} },
    });
  });

  test.each<[string, string[]]>([
    ["nothing in it", []],
    ["empty lines", ["", "", ""]],
    ["a comment alone", ["# nothing yet"]],
    ["a map that is empty", ["{}"]],
  ])("may have %s", (_title, lines) => {
    expect(parseValid(...lines)).toEqual({});
  });

  test("has the hints for wallets", () => {
    const entries = parseValid(
      "acme:",
      "  A:",
      "    pauseInfo:",
      "      reason: Annual meeting",
      "      until: 2026-12-01T08:00:00Z",
      "    showAccountInputFields: true",
      "    accountInputFieldsToShow: [provider, accountId]",
      "  B:",
      "    pauseInfo: {reason: Forever}",
      "    showAccountInputFields: false",
      "    accountInputFieldsToShow: []",
      "  C:",
      '    pauseInfo: {until: "2028-02-29T23:59:59.999999Z"}',
      "    accountInputFieldsToShow:",
      "      - accountId",
    );
    expect(entries).toEqual({
      acme: {
        A: {
          pauseInfo: { reason: "Annual meeting", until: "2026-12-01T08:00:00Z" },
          showAccountInputFields: true,
          accountInputFieldsToShow: ["provider", "accountId"],
        },
        B: { pauseInfo: { reason: "Forever" }, showAccountInputFields: false, accountInputFieldsToShow: [] },
        C: { pauseInfo: { until: "2028-02-29T23:59:59.999999Z" }, accountInputFieldsToShow: ["accountId"] },
      },
    });
  });

  test("may name no instrument of a registrar", () => {
    expect(parseValid("acme: {}")).toEqual({ acme: {} });
  });

  test("may have CRLF line ends and a byte order mark", () => {
    expect(parseValid("\uFEFFacme:\r", "  USD:\r", "    name: Dollar\r")).toEqual({
      acme: { USD: { name: "Dollar" } },
    });
  });

  test("may be JSON", () => {
    expect(parseValid('{"acme": {"USD": {"name": "Dollar", "decimals": 2}}}')).toEqual({
      acme: { USD: { name: "Dollar", decimals: 2 } },
    });
  });

  test.each([0, 1, 9, 10])("may have %i decimals", (decimals) => {
    expect(parseValid("acme:", `  USD: {decimals: ${decimals}}`)).toEqual({ acme: { USD: { decimals } } });
  });

  test("keeps ids as written, also those that look like another type", () => {
    const ids = ["0123", "1_000", "true", "no", "1.50", "2026-01-05", "a/b", "100%", "é 😀", "constructor"];
    const entries = parseValid(
      "7:",
      ...ids.map((id) => `  ${id}: {name: "named ${id}"}`),
      '  "quoted: \\u0041": {name: named}',
    );
    expect(entries["7"]).toEqual({
      ...Object.fromEntries(ids.map((id) => [id, { name: `named ${id}` }])),
      "quoted: A": { name: "named" },
    });
  });

  test("accepts every YAML string style", () => {
    const entries = parseValid(
      "acme:",
      "  A: {name: '5'}",
      '  B: {name: "\\u00e9 \\"quoted\\""}',
      "  C: {name: 5 dollars}",
      "  D:",
      "    name: |-",
      "      two",
      "      lines",
    );
    expect(entries).toEqual({
      acme: { A: { name: "5" }, B: { name: 'é "quoted"' }, C: { name: "5 dollars" }, D: { name: "two\nlines" } },
    });
  });

  test("may use anchors and aliases for maps", () => {
    const entries = parseValid(
      "acme: &ours",
      "  USD: &dollar",
      "    name: &name Dollar",
      "    decimals: &places 2",
      "  CAD: *dollar",
      "other: *ours",
    );
    const dollar = { name: "Dollar", decimals: 2 };
    expect(entries).toEqual({ acme: { USD: dollar, CAD: dollar }, other: { USD: dollar, CAD: dollar } });
  });

  test("may use anchors and aliases for scalars", () => {
    const entries = parseValid(
      "acme:",
      "  USD: {name: &name Dollar, symbol: *name, decimals: &places 2}",
      "  CAD: {name: *name, decimals: *places}",
    );
    expect(entries).toEqual({
      acme: { USD: { name: "Dollar", symbol: "Dollar", decimals: 2 }, CAD: { name: "Dollar", decimals: 2 } },
    });
  });
});

describe("a problem is reported with its line and key", () => {
  test.each<[string, string[], number, string]>([
    ["an unknown key", ["acme:", "  USD:", "    name: a", "    names: b"], 4, "acme.USD.names"],
    ["a key in another case", ["acme:", "  USD: {Name: a}"], 2, "acme.USD.Name"],
    ["a key that every object has", ["acme:", "  USD:", "    constructor: b"], 3, "acme.USD.constructor"],
    ["a prototype for a key", ["acme:", "  USD:", "    __proto__: {name: b}"], 3, "__proto__"],
    ["a merge", ["acme:", "  USD:", "    <<: {name: b}"], 3, "acme.USD.<<"],
    ["decimals above ten", ["acme:", "  USD:", "    decimals: 11"], 3, "acme.USD.decimals"],
    ["decimals below zero", ["acme:", "  USD:", "    decimals: -1"], 3, "acme.USD.decimals"],
    ["a part of a decimal", ["acme:", "  USD:", "    decimals: 1.5"], 3, "acme.USD.decimals"],
    ["decimals in quotes", ["acme:", "  USD:", '    decimals: "2"'], 3, "acme.USD.decimals"],
    ["decimals that are no number", ["acme:", "  USD:", "    decimals: .nan"], 3, "acme.USD.decimals"],
    ["decimals without end", ["acme:", "  USD:", "    decimals: .inf"], 3, "acme.USD.decimals"],
    ["decimals that are true", ["acme:", "  USD:", "    decimals: true"], 3, "acme.USD.decimals"],
    ["no decimals", ["acme:", "  USD:", "    decimals:"], 3, "acme.USD.decimals"],
    ["a list of decimals", ["acme:", "  USD:", "    decimals: [2]"], 3, "acme.USD.decimals"],
    ["an empty name", ["acme:", "  USD:", '    name: ""'], 3, "acme.USD.name"],
    ["a blank name", ["acme:", "  USD:", '    name: "  "'], 3, "acme.USD.name"],
    ["no name", ["acme:", "  USD:", "    name:"], 3, "acme.USD.name"],
    ["null for a name", ["acme:", "  USD:", "    name: null"], 3, "acme.USD.name"],
    ["a number for a name", ["acme:", "  USD:", "    name: 5"], 3, "acme.USD.name"],
    ["a boolean for a symbol", ["acme:", "  USD:", "    symbol: true"], 3, "acme.USD.symbol"],
    ["a list for a symbol", ["acme:", "  USD:", "    symbol: [a]"], 3, "acme.USD.symbol"],
    ["a map for a description", ["acme:", "  USD:", "    description: {en: a}"], 3, "acme.USD.description"],
    ["a text for a pause", ["acme:", "  USD:", "    pauseInfo: soon"], 3, "acme.USD.pauseInfo"],
    ["nothing for a pause", ["acme:", "  USD:", "    pauseInfo:"], 3, "acme.USD.pauseInfo"],
    ["a pause without a field", ["acme:", "  USD:", "    pauseInfo: {}"], 3, "acme.USD.pauseInfo"],
    [
      "an unknown key of a pause",
      ["acme:", "  USD:", "    pauseInfo:", "      reason: a", "      since: a"],
      5,
      "acme.USD.pauseInfo.since",
    ],
    ["an empty reason", ["acme:", "  USD:", "    pauseInfo: {reason: ''}"], 3, "acme.USD.pauseInfo.reason"],
    ["a date for a time", ["acme:", "  USD:", "    pauseInfo: {until: 2026-12-01}"], 3, "acme.USD.pauseInfo.until"],
    ["a local time", ["acme:", "  USD:", "    pauseInfo: {until: 2026-12-01T08:00:00}"], 3, "acme.USD.pauseInfo.until"],
    [
      "an offset",
      ["acme:", "  USD:", '    pauseInfo: {until: "2026-12-01T08:00:00+01:00"}'],
      3,
      "acme.USD.pauseInfo.until",
    ],
    [
      "30 February",
      ["acme:", "  USD:", '    pauseInfo: {until: "2026-02-30T08:00:00Z"}'],
      3,
      "acme.USD.pauseInfo.until",
    ],
    [
      "24 o'clock",
      ["acme:", "  USD:", '    pauseInfo: {until: "2026-02-03T24:00:00Z"}'],
      3,
      "acme.USD.pauseInfo.until",
    ],
    ["a number for a time", ["acme:", "  USD:", "    pauseInfo: {until: 2026}"], 3, "acme.USD.pauseInfo.until"],
    [
      "a text for a boolean",
      ["acme:", "  USD:", "    showAccountInputFields: yes"],
      3,
      "acme.USD.showAccountInputFields",
    ],
    ["nothing for a boolean", ["acme:", "  USD:", "    showAccountInputFields:"], 3, "acme.USD.showAccountInputFields"],
    [
      "a text for a list",
      ["acme:", "  USD:", "    accountInputFieldsToShow: provider"],
      3,
      "acme.USD.accountInputFieldsToShow",
    ],
    [
      "nothing for a list",
      ["acme:", "  USD:", "    accountInputFieldsToShow:"],
      3,
      "acme.USD.accountInputFieldsToShow",
    ],
    [
      "an unknown account field",
      ["acme:", "  USD:", "    accountInputFieldsToShow:", "      - provider", "      - owner"],
      5,
      "acme.USD.accountInputFieldsToShow[1]",
    ],
    [
      "an account field that is given twice",
      ["acme:", "  USD:", "    accountInputFieldsToShow:", "      - provider", "      - provider"],
      5,
      "acme.USD.accountInputFieldsToShow[1]",
    ],
    ["a list for an instrument", ["acme:", "  USD:", "    - name: a"], 2, "acme.USD"],
    ["a text for an instrument", ["acme:", "  USD: Dollar"], 2, "acme.USD"],
    ["nothing for an instrument", ["acme:", "  USD:"], 2, "acme.USD"],
    ["a list for a registrar", ["acme:", "  - USD"], 1, "acme"],
    ["a text for a registrar", ["", "acme: USD"], 2, "acme"],
    ["nothing for a registrar", ["", "acme:"], 2, "acme"],
    ["null for a registrar", ["", "acme: ~"], 2, "acme"],
    ["a list for the file", ["", "- acme"], 2, "must be a map, but is"],
    ["a text for the file", ["", "acme"], 2, "must be a map, but is"],
    ["a list for a key", ["acme:", "  [USD]: {}"], 2, "keys must be text"],
    ["an alias of nothing", ["acme:", "  USD: *nothing"], 2, "*nothing must come after its anchor"],
    ["an instrument without a value in a list of keys", ["acme:", "  {USD, EUR: {}}"], 2, "acme.USD"],
    ["a field without a value in a list of keys", ["acme:", "  USD:", "    {name}"], 3, "acme.USD.name"],
    ["a key of more lines without a value", ["acme:", "  ? USD"], 2, "acme.USD"],
  ])("%s", (_title, lines, line, path) => {
    const problems = problemsOf(...lines);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${line}: `));
    expect(problems[0]).toContain(path);
  });

  test.each<[string, string[], number]>([
    ["a field that is given twice", ["acme:", "  USD:", "    name: a", "    name: b"], 4],
    ["an instrument that is given twice", ["acme:", "  USD: {}", "  EUR: {}", "  USD: {}"], 4],
    ["an instrument that is given twice, once in quotes", ["acme:", "  USD: {}", '  "USD": {}'], 3],
    ["an instrument that is given twice, once as a number", ["acme:", "  7: {}", '  "7": {}'], 3],
    ["a registrar that is given twice", ["acme: {}", "other: {}", "acme: {}"], 3],
    ["a tab for an indentation", ["acme:", "\tUSD: {}"], 2],
    ["a text that does not end", ["acme:", "  USD:", '    name: "a'], 4],
    ["a bracket that does not close", ["acme:", "  USD: {name: a"], 3],
    ["an indentation that fits nowhere", ["acme:", "    USD: {}", "  EUR: {}"], 3],
    ["a colon too many", ["acme:", "  USD: {}: {}"], 2],
    ["a second document", ["acme: {}", "---", "other: {}"], 2],
    ["what is not YAML", ["acme: {}", "%&!"], 2],
  ])("%s, by its line", (_title, lines, line) => {
    const problems = problemsOf(...lines);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toMatch(new RegExp(`^${line}: .`));
  });

  test("names what is accepted", () => {
    expect(problemsOf("acme:", "  USD:", "    decimals: 11", "    nam: a", "    name: 5")).toEqual([
      "3: acme.USD.decimals: must be an integer from 0 to 10, but is 11",
      "4: acme.USD.nam: is not a known field; known fields: name, symbol, decimals, description, pauseInfo, " +
        "showAccountInputFields, accountInputFieldsToShow",
      "5: acme.USD.name: must be a non-empty string, but is 5: write it in quotes",
    ]);
  });

  test("names what is accepted in the hints for wallets", () => {
    const lines = [
      "acme:",
      "  USD:",
      "    pauseInfo: {until: soon, since: now}",
      "    showAccountInputFields: 1",
      "    accountInputFieldsToShow: [owner, accountId]",
      "  EUR: {pauseInfo: {}, accountInputFieldsToShow: accountId}",
      "  JPY: {accountInputFieldsToShow: [accountId, accountId]}",
    ];
    expect(problemsOf(...lines)).toEqual([
      '3: acme.USD.pauseInfo.until: must be a time in UTC such as 2026-01-31T12:00:00Z, but is "soon"',
      "3: acme.USD.pauseInfo.since: is not a known field; known fields: reason, until",
      "4: acme.USD.showAccountInputFields: must be true or false, but is 1",
      '5: acme.USD.accountInputFieldsToShow[0]: must be one of provider, accountId, but is "owner"',
      "6: acme.EUR.pauseInfo: must have a reason or until",
      '6: acme.EUR.accountInputFieldsToShow: must be a list, but is "accountId"',
      '7: acme.JPY.accountInputFieldsToShow[1]: must be given once, but "accountId" is there twice',
    ]);
  });

  test("together with all others", () => {
    const problems = problemsOf(
      "acme:",
      "  USD: {decimals: 11, name: 5}",
      "  EUR: []",
      "  JPY:",
      "    symbol: ''",
      "    name: Yen",
      "other: 5",
    );
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual(["2:", "2:", "3:", "5:", "7:"]);
  });
});

async function readError(path: string): Promise<SettingError> {
  try {
    await readInstruments(path);
  } catch (error) {
    if (error instanceof SettingError) return error;
    throw error;
  }
  throw new Error("the file was read");
}

describe("reading", () => {
  test("no file gives nothing", async () => {
    expect(await readInstruments(undefined)).toEqual(new Map());
  });

  test("a file gives its entries", async () => {
    const path = await writeLines("good.yaml", "acme:", "  USD: {name: Dollar}");
    expect(await readInstruments(path)).toEqual(new Map([["acme", new Map([["USD", { name: "Dollar" }]])]]));
  });

  test("an empty file gives nothing", async () => {
    expect(await readInstruments(await writeLines("empty.yaml"))).toEqual(new Map());
  });

  test("an invalid file: the error has the variable, and path, line and key of every problem", async () => {
    const path = await writeLines("wrong.yaml", "acme:", "  USD:", "    nam: Dollar", "    decimals: 11");
    const { message } = await readError(path);
    expect(message).toContain("OFFLEDGER_INSTRUMENTS");
    expect(message.split("\n").slice(1)).toEqual([
      `${path}:3:5: acme.USD.nam: is not a known field; known fields: name, symbol, decimals, description, pauseInfo, ` +
        "showAccountInputFields, accountInputFieldsToShow",
      `${path}:4:5: acme.USD.decimals: must be an integer from 0 to 10, but is 11`,
    ]);
  });

  test("a file that is not YAML", async () => {
    const path = await writeLines("broken.yaml", "acme:", "\tUSD: {}");
    const { message } = await readError(path);
    expect(message).toContain("OFFLEDGER_INSTRUMENTS");
    expect(message).toContain(`${path}:2:1: `);
  });

  test("a missing file: the error has the variable, the path and the system's code", async () => {
    const path = join(folder, "nothing.yaml");
    const { message } = await readError(path);
    for (const part of ["OFFLEDGER_INSTRUMENTS", path, "ENOENT"]) expect(message).toContain(part);
  });

  test("a folder", async () => {
    const { message } = await readError(folder);
    for (const part of ["OFFLEDGER_INSTRUMENTS", "EISDIR"]) expect(message).toContain(part);
  });
});

const elements = (...ids: readonly string[]): JsonObject[] => [
  element("AllocationFactory", "factory", payload.service()),
  ...ids.map((id) => element("InstrumentConfiguration", `configuration of ${id}`, payload.configuration(id))),
];

const metadata = `${registry()}/metadata/v1`;

describe("the service answers", () => {
  test("with the file's entries, and with the id and ten decimals by default", async () => {
    const instruments = await writeLines(
      "served.yaml",
      "registrar::1220:",
      "  EUR: {decimals: 0}",
      "  JPY: {symbol: ¥}",
      "  USD:",
      "    name: US dollar",
      "    symbol: $",
      "    decimals: 2",
      "    description: A dollar.",
      "  GONE: {name: on no ledger}",
      "somebody::1220:",
      "  CHF: {name: of another registrar}",
    );
    const running = await serving(elements("CHF", "EUR", "JPY", "USD"), { config: { instruments } });
    const supportedApis = expect.any(Object) as unknown;
    const expected = [
      { id: "CHF", name: "CHF", symbol: "CHF", decimals: 10, supportedApis },
      { id: "EUR", name: "EUR", symbol: "EUR", decimals: 0, supportedApis },
      { id: "JPY", name: "JPY", symbol: "¥", decimals: 10, supportedApis },
      { id: "USD", name: "US dollar", symbol: "$", decimals: 2, description: "A dollar.", supportedApis },
    ];
    const { status, body } = await running.get(`${metadata}/instruments`);
    expect(status).toBe(200);
    expect(body).toEqual({ instruments: expected });
    for (const one of expected) {
      expect((await running.get(`${metadata}/instruments/${one.id}`)).body).toEqual(one);
    }
    expect((await running.get(`${metadata}/instruments/GONE`)).status).toBe(404);
  });

  test("with the entry of the default id, also for an additional id", async () => {
    const instruments = await writeLines(
      "default.yaml",
      "registrar::1220:",
      "  USD: {name: by default}",
      "  ISIN: {name: by another}",
    );
    const configuration = payload.configuration("USD", {
      additionalIdentifiers: [{ source: "registrar::1220", id: "ISIN", scheme: "ISIN" }],
    });
    const running = await serving([...elements(), element("InstrumentConfiguration", "usd", configuration)], {
      config: { instruments },
    });
    expect((await running.get(`${metadata}/instruments/ISIN`)).body).toMatchObject({ id: "USD", name: "by default" });
  });
});
