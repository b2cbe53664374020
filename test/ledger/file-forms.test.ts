/** Snapshot files as people make them: pages, pretty-printed and appended answers, the same contract twice, other formats. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { parseSnapshot, readSnapshot } from "../../src/ledger/file/snapshot.js";
import { FormError, splitElements } from "../../src/ledger/file/splitter.js";
import { templates } from "../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { element, type Options, payload } from "../fixtures/elements.js";

const factory = (id: string, options?: Options) => element("AllocationFactory", id, payload.service(), options);
const page = (ids: string, nextPageToken?: string | null): JsonObject => ({
  activeContracts: ids.split("").map((id) => factory(id)),
  activeAtOffset: 200,
  ...(nextPageToken !== undefined && { nextPageToken }),
});

/** In one pass, and in two as the service reads a file. */
async function read(file: string) {
  const decoder = new Decoder(templates);
  const { contracts, offset, problems } = await parseSnapshot([file], decoder);
  const { index, contracts: again } = await readSnapshot(() => [file], decoder, false);
  const ids: string[] = [];
  if (problems.length === 0) for await (const { contractId } of again()) ids.push(contractId);
  expect([index.offset, index.problems, index.size]).toEqual([offset, problems, contracts.length]);
  expect(ids).toEqual(problems.length === 0 ? contracts.map(({ contractId }) => contractId) : []);
  return { ids: contracts.map(({ contractId }) => contractId).join(""), offset, problems };
}

const compact = (value: JsonValue): string => JSON.stringify(value);
const pretty = (value: JsonValue): string => JSON.stringify(value, undefined, 2);
/** As `jq` prints values, one after the other. */
const printed = (...values: readonly JsonValue[]): string => values.map((one) => `${pretty(one)}\n`).join("");
const appended = (...values: readonly JsonValue[]): string => values.map(compact).join("");
const lines = (...values: readonly JsonValue[]): string => values.map((one) => `${compact(one)}\n`).join("");

const pages = [page("ab", "t1"), page("", "t2"), page("c", "t3"), page("d")];

describe("the contracts of a file are read from", () => {
  test.each<[string, string, string, number]>([
    ["a page", compact(page("abc")), "abc", 200],
    ["a page that jq printed", pretty(page("abc")), "abc", 200],
    ["pages as lines", lines(...pages), "abcd", 200],
    ["pages that curl appended to one another", appended(...pages), "abcd", 200],
    ["pages that jq printed", printed(...pages), "abcd", 200],
    ["pages that jq slurped", pretty(pages), "abcd", 200],
    ["pages that jq slurped and compacted", compact(pages), "abcd", 200],
    ["pages in another order", lines(...pages.toReversed()), "dcab", 200],
    ["a page with a key before its list", compact({ activeAtOffset: 7, activeContracts: [factory("a")] }), "a", 10],
    ["a page whose token is empty", lines(page("a", ""), page("b", null)), "ab", 200],
    ["a page that is empty", compact(page("")), "", 200],
    ["one contract that jq printed", pretty(factory("a")), "a", 10],
    ["contracts that jq printed", printed(factory("a"), factory("b"), factory("c")), "abc", 10],
    ["contracts that jq printed with tabs", JSON.stringify(factory("a"), undefined, "\t").repeat(2), "a", 10],
    ["answers that curl appended to one another", appended([factory("a")], [factory("b")], []), "ab", 10],
    ["answers that jq slurped", pretty([[factory("a")], [factory("b"), factory("c")]]), "abc", 10],
    ["all of these", `${lines(page("a"), factory("b"))}${printed(page("c"), [factory("d")])}`, "abcd", 200],
  ])("%s", async (_what, file, ids, offset) => {
    expect(await read(file)).toEqual({ ids, offset, problems: [] });
    expect(await read(`\ufeff${file.replaceAll("\n", "\r\n")}`)).toEqual({ ids, offset, problems: [] });
  });
});

describe("a contract that is in a file twice", () => {
  const other: readonly (readonly [string, JsonObject])[] = [
    ["on another synchronizer", factory("a", { synchronizerId: "sync-B" })],
    ["with another blob", factory("a", { blob: "AAAA" })],
    ["with another payload", element("AllocationFactory", "a", payload.service({ operator: "other::1220" }))],
    ["of another package", factory("a", { packageId: "pkg-2" })],
    ["with another creation", factory("a", { createdAt: "2026-01-05T09:00:00.000001Z" })],
    ["of another template", element("TransferRule", "a", payload.service())],
  ];

  test("is one if both say the same, also in pages that overlap", async () => {
    const once = { ids: "ab", offset: 10, problems: [] };
    expect(await read(lines(factory("a"), factory("b"), factory("a")))).toEqual(once);
    expect(await read(`${compact(factory("a"))}\n${pretty(factory("a"))}${compact(factory("b"))}`)).toEqual(once);
    expect(await read(compact([page("ab", "t"), page("ba")]))).toEqual({ ...once, offset: 200 });
    const holdings = ["1.0", "2.0"].map((amount) =>
      element("Holding", "h", payload.lockedHolding("alice", "USD", { amount, lock: null })),
    );
    const counted = async (some: readonly JsonObject[]) =>
      (await parseSnapshot([lines(...some)], new Decoder(templates, { countsSupply: true }))).problems;
    expect(await counted([holdings[0], holdings[0]] as JsonObject[])).toEqual([]);
    expect(await counted(holdings)).toEqual([
      { line: 2, reason: "contract h is already on line 1, with other content" },
    ]);
    const leaves = [factory("a", { moving: "unassigned" }), factory("a", { moving: "arriving" })];
    expect(await read(lines(...leaves, ...leaves))).toMatchObject({ ids: "a", problems: [] });
  });

  test("has its latest state, also where all are on one line", async () => {
    const states = [factory("a"), factory("a", { reassignmentCounter: 2, synchronizerId: "sync-B" }), factory("b")];
    for (const some of [states, states.toReversed()]) {
      const { contracts, offset, problems } = await parseSnapshot([compact(some)], new Decoder(templates));
      expect({ offset, problems }).toEqual({ offset: 10, problems: [] });
      const latest = { contractId: "a", synchronizerId: "sync-B", reassignmentCounter: 2 };
      expect(contracts.toSorted((a, b) => (a.contractId < b.contractId ? -1 : 1))).toMatchObject([
        latest,
        { contractId: "b" },
      ]);
    }
  });

  test.each(other)("is a problem with both lines %s", async (_what, contradiction) => {
    const reason = "contract a is already on line 2, with other content";
    expect((await read(lines(factory("b"), factory("a"), factory("a"), contradiction))).problems).toEqual([
      { line: 4, reason },
    ]);
    const overlapping = pretty([page("ba"), { ...page(""), activeContracts: [contradiction] }]);
    const [problem] = (await read(overlapping)).problems;
    const lineOf = (at: number) => overlapping.slice(0, at).split("\n").length;
    const [, first = 0, second = 0] = [...overlapping.matchAll(/"workflowId"/g)].map(({ index }) => lineOf(index) - 1);
    expect(problem).toEqual({ line: second, reason: reason.replace("line 2", `line ${first}`) });
  });

  test("is a problem where the contradiction is with a later state", async () => {
    const [arrived, elsewhere] = ["sync-B", "sync-C"].map((synchronizerId) =>
      factory("a", { reassignmentCounter: 1, synchronizerId }),
    ) as [JsonObject, JsonObject];
    for (const [file, line, before] of [
      [lines(arrived, factory("a"), elsewhere), 3, 1],
      [lines(factory("a"), arrived, elsewhere), 3, 2],
    ] as const) {
      const reason = `contract a is already on line ${before}, with other content`;
      expect((await read(file)).problems).toEqual([{ line, reason }]);
    }
  });
});

describe("an export that is not complete", () => {
  const missing = (offset: number) =>
    `the export at offset ${offset} is not complete: each of its pages has a nextPageToken, so its last page is missing. ` +
    "Request the next page with that token until a page has none";

  test.each<[string, string, readonly (readonly [number, number])[]]>([
    ["one page of several", compact(page("a", "t1")), [[1, 200]]],
    ["all pages but the last", lines(page("a", "t1"), page("b", "t2")), [[2, 200]]],
    ["one of two exports", lines(page("a", "t1"), { ...page("b"), activeAtOffset: 300 }), [[1, 200]]],
    ["both", lines(page("a", "t1"), { ...page("b", "t2"), activeAtOffset: 300 }), [[1, 200], [2, 300]]], // prettier-ignore
  ])("is a problem: %s", async (_what, file, found) => {
    expect((await read(file)).problems).toEqual(found.map(([line, offset]) => ({ line, reason: missing(offset) })));
  });

  test("is one where a page has no list", async () => {
    const reason = "activeContracts must be an array, but is not one";
    expect((await read(lines({ activeContracts: null }, page("a")))).problems).toEqual([{ line: 1, reason }]);
  });
});

describe("what is no snapshot is named:", () => {
  const text = compact([factory("a")]);
  const gzip = "the file is compressed by gzip: decompress it";
  const utf16 = "the file is UTF-16, as Windows PowerShell writes it: convert it to UTF-8";

  test.each<[string, Buffer, string]>([
    ["gzip", gzipSync(text), gzip],
    ["UTF-16 with a byte order mark", Buffer.from(`\ufeff${text}`, "utf16le"), utf16],
    ["UTF-16 without", Buffer.from(text, "utf16le"), utf16],
    ["UTF-16 without that begins with a line end", Buffer.from(`\r\n${text}`, "utf16le"), utf16],
    ["big-endian UTF-16", Buffer.from(`\ufeff${text}`, "utf16le").swap16(), utf16],
    ["big-endian UTF-16 without a byte order mark", Buffer.from(text, "utf16le").swap16(), utf16],
  ])("%s", async (_what, bytes, reason) => {
    const decoded = bytes.toString("utf8");
    expect((await read(decoded)).problems).toEqual([{ line: 1, reason }]);
    const { problems } = await parseSnapshot(decoded.split(""), new Decoder(templates));
    expect(problems).toEqual([{ line: 1, reason }]);
  });

  const error = {
    code: "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
    cause: "The number of matching elements (201) is greater than the node limit (200).",
    correlationId: null,
    context: {},
    resources: [],
    errorCategory: 2,
  };

  test.each<[string, string, number]>([
    ["an error of the participant", compact(error), 1],
    ["one that jq printed", pretty(error), 1],
    ["one after a page", lines(page("a", "t1"), page("b"), error), 3],
  ])("%s", async (_what, file, line) => {
    const reason = `it is an error instead of contracts: the participant answered ${error.code}: ${error.cause}`;
    expect((await read(file)).problems).toEqual([{ line, reason }]);
  });
});

describe("an element is refused", () => {
  const problemOf = async (file: Iterable<string>): Promise<string> => {
    try {
      let count = 0;
      for await (const _element of splitElements(file)) count++;
      return `none, ${count} elements`;
    } catch (error) {
      if (!(error instanceof FormError)) throw error;
      return `${error.line}: ${error.message}`;
    }
  };
  const nested = (open: string, close: string, depth: number) => `\n${open.repeat(depth)}${close.repeat(depth)}`;

  test.each<[string, string, string, string]>([
    ["objects", '{"a":', "}", "none, 1 elements"],
    ["arrays", "[", "]", "none, 0 elements"],
    ["pages", '{"activeContracts":[', "]}", "none, 1000 elements"],
  ])("if it has more than 1,000 levels: %s", async (_what, open, close, expected) => {
    const depth = open.includes("[") && open.includes("{") ? 500 : 1_000;
    const refused = "2: the element that begins on this line has more than 1000 levels";
    expect(await problemOf([nested(open, close, depth)])).toBe(expected.replace("1000", "500"));
    expect(await problemOf([nested(open, close, depth + 1)])).toBe(refused);
    expect(await problemOf([nested(open, close, 200_000)])).toBe(refused);
  });

  test("if it has more than 64 Mi characters, however it is cut", async () => {
    const refused = "2: the element that begins on this line is longer than 67,108,864 characters";
    const chunk = "x".repeat(64 * 1024);
    function* long(chunks: number): Generator<string> {
      yield '{}\n{"a":"';
      for (let index = 0; index < chunks; index++) yield chunk;
      yield '"}';
    }
    expect(await problemOf(long(1023))).toBe("none, 2 elements");
    expect(await problemOf(long(1024))).toBe(refused);
    expect(await problemOf([[...long(1024)].join("")])).toBe(refused);
  });
});
