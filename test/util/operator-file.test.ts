/** YAML files of operators: values, lines and columns, and content that must be refused without harm. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { check, MAX_FILE_BYTES, parseOperatorFile } from "../../src/util/operator-file.js";
import { lines } from "../fixtures/contexts.js";

const parse = (content: string | Uint8Array) => parseOperatorFile<unknown>(content, (value) => ({ value }));
const lineOf = (problem: string): number => Number(problem.split(":", 1)[0]);

describe("accepts", () => {
  test.each<[string, string, unknown]>([
    ["keys that look like another type, as text", "7: a\ntrue: b\n1.50: c\n", { "7": "a", true: "b", "1.50": "c" }],
    ["nothing", "", null],
    ["a comment", "# nothing yet\n", null],
    ["a byte order mark and CRLF", "\uFEFFa: 1\r\nb:\r\n  - c\r\n", { a: 1, b: ["c"] }],
    ["tabs between a key and its value", "a:\t1\n", { a: 1 }],
    ["JSON", '{"a": [true, null, "x"]}', { a: [true, null, "x"] }],
    ["text that looks like YAML 1.1", "a: [yes, 2026-01-05, 0.7.0]", { a: ["yes", "2026-01-05", "0.7.0"] }],
    ["anchors and aliases", "a: &x { b: 1 }\nc: [*x, *x]", { a: { b: 1 }, c: [{ b: 1 }, { b: 1 }] }],
    ["a document that is marked", "---\na: 1\n...\n", { a: 1 }],
    ["90 levels", "[".repeat(90) + "]".repeat(90), JSON.parse("[".repeat(90) + "]".repeat(90))],
  ])("%s", (_what, text, value) => {
    const parsed = parse(text);
    expect(parsed.problems).toBeUndefined();
    expect(parsed.value).toEqual(value);
  });
});

describe("refuses, with the line,", () => {
  test.each<[string, string | Uint8Array, number[]]>([
    ["a key that is given twice", lines("a: 1", "b: 2", "a: 3"), [3]],
    ["a key that is given twice, once in quotes", lines("a: 1", '"7": 2', "7: 3"), [3]],
    ["nothing as a key", lines("a: 1", ": 2"), [2]],
    ["__proto__ as a key", lines("a: 1", "b: { __proto__: 1 }"), [2]],
    ["a list as a key", lines("a: 1", "[b]: 2"), [2]],
    ["an alias as a key", lines("a: &x b", "*x : 2"), [2]],
    ["a tab as an indentation", lines("a:", "\tb: 1"), [2]],
    ["text that does not end", 'a: 1\nb: "x', [2]],
    ["a second document", lines("a: 1", "---", "b: 2"), [2]],
    ["a tag", lines("a: 1", "b: !!binary aGVsbG8="), [2]],
    ["a tag of its own", lines("a: 1", "b: !when 2"), [2]],
    ["tags of YAML 1.1", lines("%YAML 1.1", "---", "a: !!set { b, c }"), [3]],
    ["an unknown directive", lines("%FOO bar", "---", "a: 1"), [1]],
    ["an alias without an anchor", lines("a: 1", "b: *x"), [1]],
    ["an alias before its anchor", lines("a: *x", "b: &x 1"), [1]],
    ["1,001 aliases", lines("a: &x 1", ...Array.from({ length: 1_001 }, (_, index) => `b${index}: *x`)), [1]],
    [
      "aliases of aliases",
      lines("a: &a [x, x]", ...bomb("a", "b"), ...bomb("b", "c"), ...bomb("c", "d"), ...bomb("d", "e")),
      [1],
    ],
    ["bytes that are not UTF-8", Buffer.concat([Buffer.from("a: 1\nb: "), Buffer.from([0xc3, 0x28, 0x0a])]), [2]],
    ["UTF-16", Buffer.from("\uFEFFa: 1\n", "utf16le"), [1]],
    ["more than its bytes", "#".repeat(MAX_FILE_BYTES + 1), [1]],
    ["20,000 levels of flow", `a: 1\nb: ${"[".repeat(20_000)}`, [2]],
    ["20,000 levels of blocks in one line", `- a\n${"- ".repeat(20_000)}`, [2]],
    ["200 levels of blocks", lines(...Array.from({ length: 200 }, (_, level) => `${" ".repeat(level)}a:`)), [100]],
  ])("%s", (_what, content, expected) => {
    const { value, problems = [] } = parse(content);
    expect(problems.map(lineOf)).toEqual(expected);
    for (const problem of problems) expect(problem).toMatch(/^\d+:\d+: \S.*\S$/);
    expect(value).toBeUndefined();
  });

  test("all errors, by line", () => {
    const { problems = [] } = parse(lines("a: 1", "[7]: 2", "a: 3", "b: !x 4"));
    expect(problems.map(lineOf)).toEqual([2, 3, 4]);
  });
});

/** A list of 9 aliases. */
const bomb = (of: string, name: string): string[] => [`${name}: &${name} [${Array(9).fill(`*${of}`).join(", ")}]`];

describe("the line and column", () => {
  const text = lines(
    "# first", // 1
    "packages:", // 2
    "  id:", // 3
    '    "1.0"', // 4
    "changes:", // 5
    "", // 6
    "  - add: &add", // 7
    "      - entry: a", // 8
    "      -", // 9
    "        entry: b", // 10
    "    when: {", // 11
    "      package: x }", // 12
    "  - add: *add", // 13
    "    rewards:", // 14
  );

  test.each<[string, (string | number)[], number, number]>([
    ["of the root", [], 2, 1],
    ["of a key, if its value begins later", ["packages", "id"], 3, 3],
    ["of a section", ["changes"], 5, 1],
    ["of an element", ["changes", 0], 7, 5],
    ["of an element that begins in the next line", ["changes", 0, "add", 1], 10, 9],
    ["of a key in an element", ["changes", 0, "add", 1, "entry"], 10, 9],
    ["of a key in a flow map", ["changes", 0, "when", "package"], 12, 7],
    ["of a key without a value", ["changes", 1, "rewards"], 14, 5],
    ["of the map that lacks a key", ["changes", 0, "when", "from"], 11, 5],
    ["of the element that lacks a key", ["changes", 1, "operations"], 13, 5],
    ["of the list that lacks an element", ["changes", 7], 5, 1],
    ["of a missing section", ["entries"], 2, 1],
    ["at the anchor of an alias", ["changes", 1, "add", 0, "entry"], 8, 9],
    ["of a scalar that has no keys", ["packages", "id", "x", "y"], 3, 3],
  ])("%s", (_what, path, line, column) => {
    const { problems } = parseOperatorFile(text, () => ({ mistakes: [{ path, message: "is wrong" }] }));
    expect(problems?.[0]?.startsWith(`${line}:${column}: `)).toBe(true);
  });
});

describe("of a union that a value does not fit,", () => {
  const form = z.union(
    [z.strictObject({ id: z.string() }), z.strictObject({ list: z.string(), of: z.string() })],
    "must be an id or a list",
  );
  test.each<[string, unknown, string[]]>([
    [
      "the problem is that of the alternative that fits best",
      { list: "a", of: 7 },
      ["of: must be a non-empty string, but is 7: write it in quotes"],
    ],
    ["an unknown field is one", { id: "a", name: "b" }, ["name: is not a known field; known fields: id"]],
    ["the problem is its own if two fit as well", { id: 7, list: "b" }, ["must be an id or a list"]],
    ["the problem is its own if none fits", [], ["must be an id or a list"]],
  ])("%s", (_what, value, expected) => {
    const { problems = [] } = parseOperatorFile(JSON.stringify(value), (parsed) => check(form, parsed));
    expect(problems.map((problem) => problem.replace(/^1:\d+: /, ""))).toEqual(expected);
  });
});
