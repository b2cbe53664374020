/** Snapshot files: how they are split into elements, and what contracts or problems they give. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { formatProblems, MAX_PROBLEMS, parseSnapshot } from "../../src/ledger/file/snapshot.js";
import { type Chunks, FormError, splitElements } from "../../src/ledger/file/splitter.js";
import { templates } from "../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { element, type Options, payload } from "../fixtures/elements.js";

/** The elements, each with its line before it; the error of a broken form as the last. */
async function split(file: Chunks): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const { line, text } of splitElements(file)) found.push(`${line} ${text}`);
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    found.push(`${error.line} ! ${error.message}`);
  }
  return found;
}

const noContent = "! the file is empty; write [] for a file without contracts";
const notClosed = "! the array is not closed: the element that begins on this line does not end";
const noComma = "! a comma is missing after an array";
const missing = "! an element is missing before or after a comma";

describe("a file is split into elements", () => {
  test.each<[string, string, string[]]>([
    ["nothing", "", [`1 ${noContent}`]],
    ["white space", " \n\t\r\n\n", [`1 ${noContent}`]],
    ["a byte order mark alone", "\ufeff", [`1 ${noContent}`]],
    ["one element without a line end", '{"a":1}', ['1 {"a":1}']],
    ["a line an element", '{"a":1}\n{"b":2}\n', ['1 {"a":1}', '2 {"b":2}']],
    ["lines that end as on Windows", '{"a":1}\r\n{"b":2}\r\n', ['1 {"a":1}', '2 {"b":2}']],
    ["a byte order mark", '\ufeff{"a":1}\n{"b":2}', ['1 {"a":1}', '2 {"b":2}']],
    ["blank lines, which count", '\n \n{"a":1}\n\n\r\n\t{"b":2} \n\n', ['3 {"a":1}', '6 {"b":2}']],
    ["brackets and quotes in a text", '{"a":"[\\"]},{"}\n', ['1 {"a":"[\\"]},{"}']],
    ["what is no JSON, which the decoder reports", 'what\n{"a":1}}\n"b', ["1 what", '2 {"a":1}', "2 }", '3 "b']],
    ["several on a line", '{"a":1}{"b":2} {"c":3}\n', ['1 {"a":1}', '1 {"b":2}', '1 {"c":3}']],
    ["a list after the first element", '{"a":1}\n[2]\n{"b":2}', ['1 {"a":1}', "2 2", '3 {"b":2}']],
    ["several lists", "[1,2][3]\n[]\n[[4],5]", ["1 1", "1 2", "1 3", "3 4", "3 5"]],
    ["elements on several lines", '{\n"a":\n[\n1\n]\n}\n{\n}\n', ['1 {\n"a":\n[\n1\n]\n}', "7 {\n}"]],
    ["a line without its end", '{"a":1\n{"b":2}\n', ['1 {"a":1', '2 {"b":2}']],
    ["nothing but the beginning of a line", '{\n{"b":2}', ["1 {", '2 {"b":2}']],
    ["a line without its end before a list", '{"a":1 \n\n [2]', ['1 {"a":1', "3 2"]],
    ["a line without the end of its text", '{"a":"1\n{"b":"\\\n{"c":3}', ['1 {"a":"1', '2 {"b":"\\', '3 {"c":3}']],
    ["an element without its end", '{"a":1}\n{"b":[2,', ['1 {"a":1}', '2 {"b":[2,']],
    ["elements with a comma between them", '{"a":1},\n{"b":2}', ['1 {"a":1}', "1 ,", '2 {"b":2}']],
    ["an empty array", "[]", []],
    ["an empty array with white space around", "\ufeff \r\n [ \n\t] \n", []],
    ["an array on one line", '[{"a":1},{"b":[2,{"c":[]}]}]\n', ['1 {"a":1}', '1 {"b":[2,{"c":[]}]}']],
    ["an array with a line an element", '[\n{"a":1},\n{"b":2}\n]\n', ['2 {"a":1}', '3 {"b":2}']],
    ["commas in front", '[{"a":1}\r\n,{"b":2}\r\n\r\n,\r\n{"c":3}]\r\n', ['1 {"a":1}', '2 {"b":2}', '5 {"c":3}']],
    ["a byte order mark before an array", '\ufeff[{"a":1}]', ['1 {"a":1}']],
    ["blank lines before an array", '\n\n [{"a":1}]', ['3 {"a":1}']],
    ["brackets and commas in texts", '[{"a]},{[":"]},{["}]', ['1 {"a]},{[":"]},{["}']],
    [
      "escaped quotes",
      String.raw`["\"","\\","\\\"]"]`,
      [String.raw`1 "\""`, String.raw`1 "\\"`, String.raw`1 "\\\"]"`],
    ],
    ["no objects", '[1, "a,b", null, [2, 3], what]', ["1 1", '1 "a,b"', "1 null", "1 2", "1 3", "1 what"]],
    ["no comma after a list", "[[1] 2]", ["1 1", `1 ${noComma}`]],
    ["a missing comma, as one element", '[{"a":1}\n{"b":2}]', ['1 {"a":1}\n{"b":2}']],
    ["nothing but its beginning", "[", [`1 ${notClosed}`]],
    ["no end", '[\n{"a":1},\n{"b":2}\n', ['2 {"a":1}', `3 ${notClosed}`]],
    ["no end after a comma", '[\n{"a":1},', ['2 {"a":1}', `2 ${notClosed}`]],
    ["an element without its end", '[\n{"a":1},\n\n{"b":{2},\n{"c":3}\n]', ['2 {"a":1}', `4 ${notClosed}`]],
    ["a first element without its end", '[\n\n{"a":1\n]', [`3 ${notClosed}`]],
    ["a text without its end", '[\n{"a":1},\n{"b":"2},\n{"c":3}\n]', ['2 {"a":1}', `3 ${notClosed}`]],
    ["a backslash at its end", '[{"a":"\\', [`1 ${notClosed}`]],
    ["text after it", '[{"a":1}] x', ['1 {"a":1}', "1 x"]],
    ["a bracket too many", '[{"a":1}]]', ['1 {"a":1}', "1 ]"]],
    ["a brace too many in it", '[{"a":1}},{"b":2}]', ['1 {"a":1}', "1 ! the array is closed by }"]],
    ["a brace at its end", '[{"a":1}\n}', ['1 {"a":1}', "2 ! the array is closed by }"]],
    ["a comma and nothing else", "[,]", [`1 ${missing}`]],
    ["a comma at its beginning", '[,{"a":1}]', [`1 ${missing}`]],
    ["a comma at its end", '[{"a":1},]', ['1 {"a":1}', `1 ${missing}`]],
    [
      "a page, after its elements",
      '{"activeContracts":[{"a":1},{"b":["activeContracts"]}],"activeAtOffset":2}',
      ['1 {"a":1}', '1 {"b":["activeContracts"]}', '1 {"activeContracts":[],"activeAtOffset":2}'],
    ],
    [
      "pages, in a list or one after the other, whatever stands in them first",
      '[{ "a": [1],\n"activeContracts" :\n [\n2\n,3 ] }, {"activeContracts":[]}]\n{"activeContracts":[4]}{"b":5}',
      [
        "4 2",
        "5 3",
        '1 { "a": [1],\n"activeContracts" :\n [] }',
        '5 {"activeContracts":[]}',
        "6 4",
        '6 {"activeContracts":[]}',
        '6 {"b":5}',
      ],
    ],
    [
      "what is no page",
      String.raw`{"a":{"activeContracts":[1]}}{"\"activeContracts":[1]}{"a":"activeContracts","b":[1]}`,
      ['1 {"a":{"activeContracts":[1]}}', String.raw`1 {"\"activeContracts":[1]}`, '1 {"a":"activeContracts","b":[1]}'],
    ],
    ["a page without its end", '\n{"activeContracts":[{"a":1},', ['2 {"a":1}', `2 ${notClosed}`]],
    ["two commas", '[\n{"a":1},\n,\n{"b":2}\n]', ['2 {"a":1}', `3 ${missing}`]],
  ])("%s", async (_what, file, elements) => {
    expect(await split(file)).toEqual(elements);
    // In one piece, in two, and one character after the other.
    expect(await split([file])).toEqual(elements);
    for (let at = 1; at < file.length; at++) expect(await split([file.slice(0, at), file.slice(at)])).toEqual(elements);
  });

  const awkward = fc.string({
    unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", "\n", "\r", "a", "é", "\u2028", "😀"),
  });
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }).map((json) => json as JsonValue);

  test("the same in every form, with their lines", async () => {
    const elements = fc.array(fc.dictionary(awkward, fc.oneof(value, awkward)), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(elements, fc.integer({ min: 0, max: 4 }), async (some, indent) => {
        const texts = some.map((one) => JSON.stringify(one));
        for (const file of [...formsOf(texts), JSON.stringify(some, undefined, indent)]) {
          const found: { readonly line: number; readonly text: string }[] = [];
          for await (const one of splitElements([file])) found.push(one);
          expect(found.map(({ text }) => JSON.stringify(JSON.parse(text)))).toEqual(texts);
          const lines = file.replace(/^\ufeff/, "").split("\n");
          for (const { line, text } of found) expect(lines[line - 1]).toContain(text.split("\n")[0]);
        }
      }),
    );
  });
});

const formsOf = (texts: readonly string[]): string[] => [
  texts.join("\n"),
  texts.map((text) => `${text}\r\n\r\n`).join(""),
  `\ufeff${texts.join("\n")}\n`,
  `[${texts.join(",")}]`,
  `[\r\n${texts.join(",\r\n")}\r\n]\r\n`,
];

const read = (file: string) => parseSnapshot([file], new Decoder(templates));
const textsOf = (elements: readonly (JsonObject | string)[]) =>
  elements.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
const lines = (...elements: readonly (JsonObject | string)[]): string => `${textsOf(elements).join("\n")}\n`;
const list = (...elements: readonly (JsonObject | string)[]): string => `[\n${textsOf(elements).join(",\n")}\n]\n`;

const factory = (id: string, options?: Options) => element("AllocationFactory", id, payload.service(), options);
const locked = (id: string) => element("Holding", id, payload.lockedHolding("alice", "USD"));
const free = (id: string) => element("Holding", id, payload.lockedHolding("alice", "USD", { lock: null }));
const unknown = (id: string): JsonObject =>
  JSON.parse(JSON.stringify(factory(id)).replaceAll(":AllocationFactory", ":SomethingElse")) as JsonObject;

/** The element with another offset of its event. */
const at = (offset: number, given: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(given).replace('"offset":10', `"offset":${offset}`)) as JsonObject;

describe("a valid file", () => {
  test("returns its contracts, the highest offset, even of an ignored element, and the number of those", async () => {
    const empty = { workflowId: "", contractEntry: { JsEmpty: {} } };
    const elements = [at(11, factory("a")), free("b"), at(30, locked("c")), at(50, unknown("d")), empty, factory("e")];
    for (const file of [...formsOf(textsOf(elements)), JSON.stringify(elements, undefined, 2)]) {
      const { contracts, ...rest } = await read(file);
      expect(contracts.map(({ contractId }) => contractId)).toEqual(["a", "c", "e"]);
      expect(rest).toEqual({ offset: 50, ignored: 3, foreign: 0, problems: [] });
    }
    expect(await read("[]")).toEqual({ contracts: [], offset: 0, ignored: 0, foreign: 0, problems: [] });
  });

  test("may hold any string in its payloads", async () => {
    const given = payload.service({ note: 'a "quoted" ]},{[ \\" \\ \n \u2028' });
    const file = JSON.stringify([element("AllocationFactory", "a", given)], undefined, 2);
    expect(await read(file)).toMatchObject({ problems: [], contracts: [{ body: { payload: JSON.stringify(given) } }] });
  });
});

describe("an invalid file", () => {
  const noBlob = JSON.stringify(factory("c")).replace(/"createdEventBlob":"[^"]*"/, '"x":1');
  const notJson = expect.stringMatching(/^not JSON: /) as string;
  const pretty = JSON.stringify([factory("a"), { contractEntry: {} }, factory("b")], undefined, 2);
  const brokenLine = pretty.slice(0, pretty.indexOf('"contractEntry": {}')).split("\n").length - 1;

  test.each<[string, string, [number, string][], string]>([
    [
      "broken elements, line by line",
      lines(factory("a"), "{", factory("b"), "5", noBlob, factory("d")),
      [
        [2, notJson],
        [4, "the element must be an object, but is not one"],
        [5, expect.stringMatching(/^createdEventBlob must be a string, but is missing/) as string],
      ],
      "abd",
    ],
    ["an element of an array", list(factory("a"), "5"), [[3, "the element must be an object, but is not one"]], "a"],
    [
      "the first line of one that is pretty-printed",
      pretty,
      [[brokenLine, expect.stringMatching(/^contractEntry/) as string]],
      "ab",
    ],
    ["a missing comma", `[\n${JSON.stringify(factory("a"))}\n${JSON.stringify(factory("c"))}\n]`, [[2, notJson]], ""],
    [
      "two elements on a line",
      lines(factory("a"), `${JSON.stringify(factory("b"))}{}`),
      [[2, "contractEntry must be an object, but is missing"]],
      "ab",
    ],
    ["a broken form, after the elements before", `${list(factory("a"))},`, [[4, notJson]], "a"],
    ["a broken list, after the elements before", list(factory("a"), "[] 5"), [[3, noComma.slice(2)]], "a"],
    ["a truncated line", lines(factory("a"), factory("b")).slice(0, -40), [[2, notJson]], "a"],
  ])("is reported with its line: %s", async (_what, file, problems, valid) => {
    const found = await read(file);
    expect(found.problems).toEqual(problems.map(([line, reason]) => ({ line, reason })));
    expect(found.contracts.map(({ contractId }) => contractId).join("")).toBe(valid);
  });

  test(`reports its first ${MAX_PROBLEMS} problems, and says no more`, async () => {
    const wrong = Array.from({ length: MAX_PROBLEMS * 3 }, (_, index) => (index === 3 ? factory("a") : "wrong"));
    const reported = [1, 2, 3, ...Array.from({ length: MAX_PROBLEMS - 3 }, (_, index) => index + 5)];
    expect((await read(lines(...wrong))).problems.map(({ line }) => line)).toEqual(reported);
    const many = Array.from({ length: MAX_PROBLEMS }, () => "{}");
    expect((await read(lines(...many.slice(1)))).problems).toHaveLength(MAX_PROBLEMS - 1);
    expect((await read(`[${many.join(",")},{`)).problems).toHaveLength(MAX_PROBLEMS);
  });
});

describe("a large element", () => {
  /** An element of so many MiB, in the pieces in which a file is read. */
  function* ofMiB(size: number, before: string, after: string): Generator<string> {
    yield before;
    for (let piece = 0; piece < size * 16; piece++) yield "x".repeat(64 * 1024);
    yield after;
  }
  const processorMs = async (chunks: Chunks, length: number): Promise<number> => {
    const from = process.cpuUsage();
    const [found = "", ...others] = await split(chunks);
    const { user, system } = process.cpuUsage(from);
    expect([found.length, others]).toEqual([length + "1 ".length, []]);
    return (user + system) / 1_000;
  };

  test.each([
    ["of an array", '[{"a":"', '"}]'],
    ["on a line", '{"a":"', '"}\n'],
  ])("%s takes time that grows as its size does, not as the square", async (_where, before, after) => {
    const brackets = before.startsWith("[") ? 2 : 1;
    const size = 60;
    const length = size * 1024 * 1024 + before.length + after.length - brackets;
    // A fifth of a second where the time is linear, twenty where it is not.
    expect(await processorMs(ofMiB(size, before, after), length)).toBeLessThan(6_000);
  });

  test("that is too large is refused", async () => {
    const [found] = await split(ofMiB(70, '[{"a":"', '"}]'));
    expect(found).toMatch(/^1 ! the element that begins on this line is longer than 67,108,864 characters$/);
  });
});

test("problems are formatted as path:line, which editors and terminals recognise", () => {
  const problems = [
    { line: 2, reason: "not JSON" },
    { line: 17, reason: "createdAt must be a string, but is missing" },
  ];
  const text = "a/b.ndjson:2: not JSON\na/b.ndjson:17: createdAt must be a string, but is missing";
  expect(formatProblems("a/b.ndjson", problems)).toBe(text);
});
