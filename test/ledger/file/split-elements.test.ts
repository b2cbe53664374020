import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FormError, splitElements } from "../../../src/ledger/file/snapshot.js";
import type { JsonValue } from "../../../src/domain/json.js";

const split = (file: string) => [...splitElements(file)];

/** The elements before an error of form, and the error. */
function broken(file: string) {
  const before: string[] = [];
  try {
    for (const { text } of splitElements(file)) before.push(text);
  } catch (error) {
    if (error instanceof FormError) return { before, line: error.line, message: error.message };
    throw error;
  }
  throw new Error(`nothing is wrong with the form of ${file}`);
}

const notClosed = "the array is not closed: the element that begins on this line does not end";
const textAfterEnd = "there is text after the end of the array";
const missing = "an element is missing before or after a comma";

describe("a file of lines", () => {
  test.each<[string, string, [number, string][]]>([
    ["one element without a line end", '{"a":1}', [[1, '{"a":1}']]],
    ["one element", '{"a":1}\n', [[1, '{"a":1}']]],
    [
      "two elements",
      '{"a":1}\n{"b":2}\n',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      "lines that end as on Windows",
      '{"a":1}\r\n{"b":2}\r\n',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      "a byte order mark",
      '\ufeff{"a":1}\n{"b":2}',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      "blank lines, which count",
      '\n \n{"a":1}\n\n\r\n\t{"b":2} \n\n',
      [
        [3, '{"a":1}'],
        [6, '{"b":2}'],
      ],
    ],
    ["brackets and quotes in a text", '{"a":"[\\"]},{"}\n', [[1, '{"a":"[\\"]},{"}']]],
    [
      "what is no JSON, which the decoder reports",
      'what\n{"a":1\n}}',
      [
        [1, "what"],
        [2, '{"a":1'],
        [3, "}}"],
      ],
    ],
    [
      "lists after the first element",
      '{"a":1}\n[2]\n',
      [
        [1, '{"a":1}'],
        [2, "[2]"],
      ],
    ],
  ])("of %s", (_what, file, elements) => {
    expect(split(file)).toEqual(elements.map(([line, text]) => ({ line, text })));
  });
});

describe("a file that is an array", () => {
  test.each<[string, string, [number, string][]]>([
    ["no element", "[]", []],
    ["no element, with white space around", "\ufeff \r\n [ \n\t] \n", []],
    ["one element", '[{"a":1}]', [[1, '{"a":1}']]],
    [
      "elements on one line",
      '[{"a":1},{"b":[2,{"c":[]}]}]\n',
      [
        [1, '{"a":1}'],
        [1, '{"b":[2,{"c":[]}]}'],
      ],
    ],
    [
      "an element a line",
      '[\n{"a":1},\n{"b":2}\n]\n',
      [
        [2, '{"a":1}'],
        [3, '{"b":2}'],
      ],
    ],
    [
      "an element a line, with the commas in front and lines that end as on Windows",
      '[{"a":1}\r\n,{"b":2}\r\n\r\n,\r\n{"c":3}]\r\n',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
        [5, '{"c":3}'],
      ],
    ],
    ["a byte order mark", '\ufeff[{"a":1}]', [[1, '{"a":1}']]],
    ["blank lines before it", '\n\n [{"a":1}]', [[3, '{"a":1}']]],
    ["brackets and commas in texts", '[{"a]},{[":"]},{["}]', [[1, '{"a]},{[":"]},{["}']]],
    [
      "escaped quotes and backslashes in texts",
      String.raw`[{"a":"\""},{"b":"\\"},{"c":"\\\"]"},{"\"[":"\\\\"}]`,
      [
        [1, String.raw`{"a":"\""}`],
        [1, String.raw`{"b":"\\"}`],
        [1, String.raw`{"c":"\\\"]"}`],
        [1, String.raw`{"\"[":"\\\\"}`],
      ],
    ],
    [
      "elements that are no objects, which the decoder reports",
      '[1, "a,b", null, [2, 3], what]',
      [
        [1, "1"],
        [1, '"a,b"'],
        [1, "null"],
        [1, "[2, 3]"],
        [1, "what"],
      ],
    ],
    ["a missing comma, as one element, which the JSON parser rejects", '[{"a":1}\n{"b":2}]', [[1, '{"a":1}\n{"b":2}']]],
  ])("of %s", (_what, file, elements) => {
    expect(split(file)).toEqual(elements.map(([line, text]) => ({ line, text })));
  });

  test("is split where it is pretty-printed, and elements have the line that they begin on", () => {
    const elements = [{ a: { b: [1, 2] } }, { c: "},\n{" }, { d: {} }];
    const file = JSON.stringify(elements, undefined, 2);
    const lines = file.split("\n");
    const found = split(file);
    expect(found.map(({ text }) => JSON.parse(text) as unknown)).toEqual(elements);
    for (const { line, text } of found) expect(lines[line - 1]?.trim()).toBe(text.split("\n")[0]);
    expect(found.map(({ line }) => line)).toEqual([2, 10, 13]);
  });

  test.each<[string, string, string[], number, string]>([
    ["nothing but its beginning", "[", [], 1, notClosed],
    ["no end", '[\n{"a":1},\n{"b":2}\n', ['{"a":1}'], 3, notClosed],
    ["no end after a comma", '[\n{"a":1},', ['{"a":1}'], 2, notClosed],
    ["an element without its end", '[\n{"a":1},\n{"b":2\n]', ['{"a":1}'], 3, notClosed],
    [
      "an element without its end, and others after it",
      '[\n{"a":1},\n\n{"b":{2},\n{"c":3}\n]',
      ['{"a":1}'],
      4,
      notClosed,
    ],
    ["a first element without its end", '[\n\n{"a":1\n]', [], 3, notClosed],
    ["a text without its end", '[\n{"a":1},\n{"b":"2},\n{"c":3}\n]', ['{"a":1}'], 3, notClosed],
    ["a backslash at its end", '[{"a":"\\', [], 1, notClosed],
    ["text after it", '[{"a":1}] x', ['{"a":1}'], 1, textAfterEnd],
    ["another array after it", "[\n] []", [], 2, textAfterEnd],
    ["a bracket too many", '[{"a":1}]]', ['{"a":1}'], 1, textAfterEnd],
    ["a comma after it", '[{"a":1}],', ['{"a":1}'], 1, textAfterEnd],
    ["a brace too many in it", '[{"a":1}},{"b":2}]', ['{"a":1}'], 1, textAfterEnd],
    ["a comma and nothing else", "[,]", [], 1, missing],
    ["a comma at its beginning", '[,{"a":1}]', [], 1, missing],
    ["a comma at its end", '[{"a":1},]', ['{"a":1}'], 1, missing],
    ["two commas", '[\n{"a":1},\n,\n{"b":2}\n]', ['{"a":1}'], 3, missing],
  ])("with %s fails with its line, after the elements before", (_what, file, before, line, message) => {
    expect(broken(file)).toEqual({ before, line, message });
  });

  test("that ends with a brace fails, after the elements before", () => {
    expect(broken('[{"a":1}\n}')).toMatchObject({ before: ['{"a":1}'] });
  });
});

test.each([
  ["nothing", ""],
  ["white space", " \n\t\r\n\n"],
  ["a byte order mark alone", "\ufeff"],
])("a file of %s fails: it may be incomplete", (_what, file) => {
  expect(broken(file)).toEqual({
    before: [],
    line: 1,
    message: "the file is empty; write [] for a file without contracts",
  });
});

describe("the same elements", () => {
  const awkward = fc.string({
    unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", "\n", "\r", "a", "é", "\u2028", "😀"),
  });
  const value = fc.dictionary(
    awkward,
    fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }).map((json) => json as JsonValue),
  );
  const object = fc.dictionary(
    awkward,
    awkward.map((text): JsonValue => text),
  );

  test("are found in every form of file, with their lines", () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1 }),
        fc.array(object),
        fc.integer({ min: 0, max: 4 }),
        (some, others, indent) => {
          const elements: Record<string, JsonValue>[] = [...some, ...others];
          const texts = elements.map((element) => JSON.stringify(element));
          const expected = JSON.parse(JSON.stringify(elements)) as unknown;
          const forms = [
            texts.join("\n"),
            texts.map((text) => `${text}\r\n\r\n`).join(""),
            `\ufeff${texts.join("\n")}\n`,
            `[${texts.join(",")}]`,
            `[\r\n${texts.join(",\r\n")}\r\n]\r\n`,
            JSON.stringify(elements, undefined, indent),
          ];
          for (const file of forms) {
            const found = split(file);
            expect(found.map(({ text }) => JSON.parse(text) as unknown)).toEqual(expected);
            const lines = file.replace(/^\ufeff/, "").split("\n");
            for (const { line, text } of found) expect(lines[line - 1]).toContain(text.split("\n")[0]);
          }
        },
      ),
    );
  });
});
