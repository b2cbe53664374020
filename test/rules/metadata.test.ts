/** Metadata: registry info, instruments by pages and alone, their pauses and the operator's hints. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { info, instrument as instrumentOf, instruments as instrumentsOf } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { ask, refused, type Rules, rulesOn } from "../fixtures/rules.js";

const { registrar } = parties;
const other = "other::1220";
/** The APIs of the token standard, with their minor versions: version 1 alone, as the version of the package is unknown. */
const supportedApis = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-allocation-request-v1": 1,
};

const instrument = (id: string, of: string = registrar): Call => instrumentOf(of, id);
const listQuery = (query: string, of: string = registrar): Call => {
  const call = instrumentsOf(of);
  return { ...call, path: `${call.path}?${query}` };
};
const instruments = instrumentsOf(registrar);

const factory = (of: string = registrar, options?: Options): JsonObject =>
  element("AllocationFactory", `factory of ${of}`, payload.service({ registrar: of }), options);
/** A configuration of each id. */
const configurations = (ids: readonly string[], of: string = registrar): JsonObject[] =>
  ids.map((id) => element("InstrumentConfiguration", `${id} of ${of}`, payload.configuration(id, { registrar: of })));
const on = (...ids: readonly string[]): Rules => rulesOn([factory(), ...configurations(ids)]);

/** An instrument without name, symbol and decimals. */
const plain = (id: string): JsonObject => ({ id, name: id, symbol: id, decimals: 10, supportedApis });

interface Page {
  readonly ids: readonly string[];
  readonly next: string | undefined;
}
async function pageOf(rules: Rules, call: Call): Promise<Page> {
  const { instruments: listed, nextPageToken: next } = (await rules.body(call)) as unknown as {
    readonly instruments: readonly { readonly id: string }[];
    readonly nextPageToken?: string;
  };
  return { ids: listed.map(({ id }) => id), next };
}
const after = (next: string | undefined, more = "", of?: string): Call =>
  listQuery(`pageToken=${encodeURIComponent(next ?? "none")}${more}`, of);

/** The ids of all pages. */
async function pages(rules: Rules, pageSize: number): Promise<(readonly string[])[]> {
  const found: (readonly string[])[] = [];
  let next: string | undefined = "";
  while (next !== undefined && found.length < 1_000) {
    const page: Page = await pageOf(rules, after(next, `&pageSize=${pageSize}`));
    found.push(page.ids);
    ({ next } = page);
  }
  return found;
}
const reversed = (text: string): string => Array.from(text).toReversed().join("");
/** `i-00`, `i-01`, … */
const numbered = (count: number, digits = 2): string[] =>
  Array.from({ length: count }, (_, index) => `i-${String(index).padStart(digits, "0")}`);

describe("a registrar", () => {
  test("has its name and the supported APIs; it needs neither instruments nor a factory on a synchronizer", async () => {
    const rules = rulesOn([factory(registrar, { moving: "unassigned" })]);
    expect(await rules.body(info(registrar))).toEqual({ adminId: registrar, supportedApis });
    expect(await rules.body(instruments)).toEqual({ instruments: [] });
  });

  test("that has no factory is not served, whatever configurations it has", async () => {
    const rules = rulesOn([factory(), ...configurations(["USD"], "nobody::1220")]);
    for (const call of [info("nobody::1220"), instrumentsOf("nobody::1220"), instrument("USD", "nobody::1220")])
      expect(await rules.ask(call)).toEqual(refused(404, "nobody::1220"));
  });

  test.each(["registrar::122", "registrar::12200", "Registrar::1220", " registrar::1220"])(
    "is not matched by a part of its name, or in another case: %j",
    async (name) => {
      expect(await on("USD").ask(info(name))).toEqual(refused(404, name));
    },
  );
});

describe("the list of instruments", () => {
  const many = numbered(60);
  const shuffled = many.toSorted((a, b) => (reversed(a) < reversed(b) ? -1 : 1));
  const rules = rulesOn([factory(), factory(other), ...configurations(shuffled), ...configurations(["X", "Y"], other)]);

  test("is sorted by id, 25 per page by default", async () => {
    const first = await pageOf(rules, instruments);
    expect(first.ids).toEqual(many.slice(0, 25));
    const second = await pageOf(rules, after(first.next));
    expect(second.ids).toEqual(many.slice(25, 50));
    expect(await pageOf(rules, after(second.next))).toEqual({ ids: many.slice(50), next: undefined });
    expect(await pageOf(rules, after(first.next))).toEqual(second);
  });

  test("has all known fields, and no others", async () => {
    expect(await rules.body(instrumentsOf(other))).toEqual({ instruments: [plain("X"), plain("Y")] });
  });

  test.each([1, 7, 20, 59, 60, 61, 1_000])("has pages of the requested size: %i", async (pageSize) => {
    const expected: string[][] = [];
    for (let from = 0; from < many.length; from += pageSize) expected.push(many.slice(from, from + pageSize));
    expect(await pages(rules, pageSize)).toEqual(expected);
  });

  test("begins anew with an empty token, and takes another size with a token", async () => {
    const { ids, next } = await pageOf(rules, listQuery("page_size=3&page_token=&unknown=1&registrarParty=nobody"));
    expect(ids).toEqual(many.slice(0, 3));
    expect((await pageOf(rules, after(next, "&pageSize=2"))).ids).toEqual(many.slice(3, 5));
  });

  test.each(["0", "-1", "x", "1.5", "", "%205", "1&pageSize=2", "1&page_size=2", "2147483648", "-2147483649", "null"])(
    "is 400 for pageSize=%s, of any registrar",
    async (size) => {
      for (const of of [registrar, "nobody::1220"])
        expect(await rules.ask(listQuery(`pageSize=${size}`, of))).toEqual(
          refused(400, size.includes("page_size") ? "page" : "pageSize"),
        );
    },
  );

  test("is 400 for a token of another registrar, or two", async () => {
    const { next } = await pageOf(rules, listQuery("pageSize=1", other));
    expect(await rules.ask(after(next))).toEqual(refused(400, "pageToken"));
    expect((await pageOf(rules, after(next, "", other))).ids).toEqual(["Y"]);
    const { next: own = "" } = await pageOf(rules, listQuery("pageSize=1"));
    expect(await rules.ask(after(own, `&pageToken=${own}`))).toEqual(refused(400, "pageToken"));
  });

  test("is 400 for a changed token", async () => {
    const { next = "" } = await pageOf(rules, listQuery("pageSize=1"));
    const more = ["A", "=", "==", " ", "\n", next].map((end) => next + end);
    const all = [next.slice(0, -1), next.slice(1), ...more, ` ${next}`, next.toLowerCase(), reversed(next)];
    for (const changed of all)
      expect([changed, await rules.ask(after(changed))]).toEqual([changed, refused(400, "pageToken")]);
  });

  test.each([
    "x",
    "null",
    "i-03",
    "😀",
    "A".repeat(9_000),
    ...["[]", "null", '["registrar::1220"]', '["registrar::1220",5]', '{"0":"registrar::1220","1":"i-03"}'].map(
      (text) => Buffer.from(text).toString("base64url"),
    ),
  ])("is 400 for a made-up token", async (token) => {
    expect(await rules.ask(after(token))).toEqual(refused(400, "pageToken"));
  });

  test("has at most 1,000 per page", async () => {
    const thousands = numbered(1_005, 4);
    const large = on(...thousands);
    for (const pageSize of [1_000, 1_001, 2_147_483_647]) {
      const first = await pageOf(large, listQuery(`pageSize=${pageSize}`));
      expect(first.ids).toEqual(thousands.slice(0, 1_000));
      expect(await pageOf(large, after(first.next))).toEqual({ ids: thousands.slice(1_000), next: undefined });
    }
  });

  test("is paged whatever characters the ids contain, and however long they are", async () => {
    const awkward = [
      " ",
      "a",
      "A",
      "a b",
      "é",
      "e\u0301",
      "%",
      "100%",
      "a/b",
      '"',
      "\\",
      "😀",
      "\uFFFD",
      "日本語",
      "\n",
    ];
    const ids = [...awkward, ...numbered(3).map((id) => `${id}${"é".repeat(500)}`)];
    const found = await pages(on(...ids), 1);
    expect(found).toHaveLength(ids.length);
    expect(found.flat().toSorted()).toEqual(ids.toSorted());
  });

  test("skips and repeats none while others are added and removed", async () => {
    const first = await pageOf(on("b", "d", "f", "h", "j"), listQuery("pageSize=2"));
    expect(first.ids).toEqual(["b", "d"]);
    // "a", "c" and "e" are added; "d", the last id of this page, is removed.
    const second = await pageOf(on("a", "b", "c", "e", "f", "h", "j"), after(first.next, "&pageSize=2"));
    expect(second.ids).toEqual(["e", "f"]);
    expect((await pageOf(on("a", "h", "j", "k"), after(second.next, "&pageSize=2"))).ids).toEqual(["h", "j"]);
    expect(await on("a", "b").body(after(first.next))).toEqual({ instruments: [] });
  });
});

/** Configurations of USD with different additional ids. */
const usd = (contractId: string, isin: string, options?: Options): JsonObject =>
  element(
    "InstrumentConfiguration",
    contractId,
    payload.configuration("USD", { additionalIdentifiers: [{ source: "isin", id: isin, scheme: "ISIN" }] }),
    options,
  );
const at = (createdAt: string, more: Options = {}): Options => ({ createdAt, ...more });

describe("of several configurations of one id", () => {
  test.each<[string, readonly JsonObject[], string, readonly string[]]>([
    [
      "the newest counts",
      [
        usd("a", "old", at("2026-01-05T09:00:00.000001Z")),
        usd("b", "new", at("2026-01-05T09:00:00.000003Z")),
        usd("c", "middle", at("2026-01-05T09:00:00.000002Z")),
      ],
      "new",
      ["old", "middle"],
    ],
    [
      "the lowest contract id counts of those created at the same time",
      [usd("b", "high"), usd("a", "low")],
      "low",
      ["high"],
    ],
    [
      "one in reassignment counts too",
      [usd("a", "old"), usd("b", "new", at("2026-02-06T09:00:00Z", { moving: "unassigned" }))],
      "new",
      ["old"],
    ],
  ])("%s, and the instrument is listed once", async (_what, elements, found, lost) => {
    const rules = rulesOn([factory(), ...elements, ...configurations(["EUR"])]);
    expect(await rules.body(instruments)).toEqual({ instruments: [plain("EUR"), plain("USD")] });
    for (const id of ["USD", found]) expect(await rules.body(instrument(id))).toEqual(plain("USD"));
    for (const id of lost) expect(await rules.ask(instrument(id))).toEqual(refused(404, id, registrar));
  });
});

describe("one instrument", () => {
  test("is of its registrar", async () => {
    const rules = rulesOn([factory(), factory(other), ...configurations(["USD"], other)]);
    for (const id of ["USD", "usd", "US", "USD ", "null"])
      expect(await rules.ask(instrument(id))).toEqual(refused(404, id, registrar));
    expect(await rules.body(instrument("USD", other))).toEqual(plain("USD"));
  });

  test.each([
    ..."a/b|/a|a/|/|a//b|100%|%|%41|%2F|a b| a |a+b|a?b=c|a#b|a&b|a;b|a:b|a\\b|...|é|日本語|😀|\n|info|:p1|__proto__|toString".split(
      "|",
    ),
    "é".repeat(1_024),
  ])("may have the id %j", async (id) => {
    expect(await on(id, "USD").body(instrument(id))).toEqual(plain(id));
  });

  test("cannot have an oversized id", async () => {
    expect(await on("USD").ask(instrument("a".repeat(1_025)))).toEqual(refused(400, "instrumentId"));
  });
});

const configured = (more: JsonObject, id = "usd", options?: Options) =>
  element("InstrumentConfiguration", id, payload.configuration("USD", more), options);

describe("the hints for wallets", () => {
  const hints = new Set(["paused", "pauseInfo", "showAccountInputFields", "accountInputFieldsToShow"]);

  /** Of USD: the same alone and in the list. */
  async function hintsOf(elements: readonly JsonObject[], ...lines: readonly string[]): Promise<JsonObject> {
    const file = [`${registrar}:`, "  USD:", ...lines.map((line) => `    ${line}`)].join("\n");
    const rules = rulesOn([factory(), ...elements], lines.length === 0 ? {} : { instruments: file });
    const body = await rules.body(instrument("USD"));
    expect(await rules.body(instruments)).toEqual({ instruments: [body] });
    return Object.fromEntries(Object.entries(body).filter(([name]) => hints.has(name)));
  }

  test.each<[string, JsonValue | undefined, JsonObject]>([
    ["the name of the constructor", "Paused", { paused: true }],
    ["true", true, { paused: true }],
    ["an empty object", {}, { paused: true }],
    ["a record", { reason: "audit" }, { paused: true }],
    ["a variant", { tag: "Paused", value: {} }, { paused: true }],
    ["absent", undefined, {}],
    ["null", null, {}],
    ["false", false, {}],
    ["another name", "Running", {}],
    ["an empty list", [], {}],
    ["a number", 1, {}],
  ])("isPaused, if it is %s", async (_what, isPaused, expected) => {
    expect(await hintsOf([configured(isPaused === undefined ? {} : { isPaused })])).toEqual(expected);
  });

  test.each<[JsonValue, JsonValue, JsonObject]>([
    [null, "Paused", { paused: true }],
    ["Paused", null, {}],
  ])("are those of the newest configuration: %j, then %j", async (old, young, expected) => {
    const elements = [
      configured({ isPaused: young }, "young", at("2026-02-05T09:00:00Z")),
      configured({ isPaused: old }),
    ];
    expect(await hintsOf(elements)).toEqual(expected);
  });

  test.each<[string, JsonObject, readonly string[], JsonObject]>([
    [
      "all",
      { isPaused: "Paused" },
      [
        "pauseInfo: {reason: Annual meeting, until: 2026-12-01T08:00:00Z}",
        "showAccountInputFields: true",
        "accountInputFieldsToShow: [accountId, provider]",
      ],
      {
        paused: true,
        pauseInfo: { reason: "Annual meeting", until: "2026-12-01T08:00:00Z" },
        showAccountInputFields: true,
        accountInputFieldsToShow: ["accountId", "provider"],
      },
    ],
    [
      "no pauseInfo while it is not paused",
      {},
      ["pauseInfo: {reason: Annual meeting}", "showAccountInputFields: false"],
      { showAccountInputFields: false },
    ],
    [
      "only what the file has",
      { isPaused: "Paused" },
      ["pauseInfo: {until: 2026-12-01T08:00:00Z}"],
      { paused: true, pauseInfo: { until: "2026-12-01T08:00:00Z" } },
    ],
    ["an empty list, which hides all fields", {}, ["accountInputFieldsToShow: []"], { accountInputFieldsToShow: [] }],
  ])("of the operator: %s", async (_what, more, lines, expected) => {
    expect(await hintsOf([configured(more)], ...lines)).toEqual(expected);
  });

  test("the operator may say of an instrument what the ledger does not", async () => {
    const file = `${registrar}:\n  USD: { name: Dollar, symbol: $, decimals: 2 }`;
    const answer = await ask([factory(), configured({})], instrument("USD"), { instruments: file });
    expect(answer).toEqual({ ...plain("USD"), name: "Dollar", symbol: "$", decimals: 2 });
  });
});
