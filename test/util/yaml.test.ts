/** YAML files of operators: values, lines, and content that must be refused without harm. */
import { describe, expect, test } from "vitest";
import { MAX_YAML_BYTES, parseYaml } from "../../src/util/yaml.js";
import { lines } from "../fixtures/contexts.js";

const linesOf = (content: string | Uint8Array): readonly number[] => parseYaml(content).errors.map(({ line }) => line);

describe("accepts", () => {
  test.each<[string, string, unknown]>([
    ["nothing", "", null],
    ["a comment", "# nothing yet\n", null],
    ["a byte order mark and CRLF", "\uFEFFa: 1\r\nb:\r\n  - c\r\n", { a: 1, b: ["c"] }],
    ["tabs between a key and its value", "a:\t1\n", { a: 1 }],
    ["JSON", '{"a": [true, null, "x"]}', { a: [true, null, "x"] }],
    [
      "text that looks like another type of YAML 1.1",
      "a: [yes, 2026-01-05, 0.7.0]",
      { a: ["yes", "2026-01-05", "0.7.0"] },
    ],
    ["anchors and aliases", "a: &x { b: 1 }\nc: [*x, *x]", { a: { b: 1 }, c: [{ b: 1 }, { b: 1 }] }],
    ["a document that is marked", "---\na: 1\n...\n", { a: 1 }],
    ["90 levels", "[".repeat(90) + "]".repeat(90), nested(90)],
  ])("%s", (_what, text, value) => {
    const parsed = parseYaml(text);
    expect(parsed.errors).toEqual([]);
    expect(parsed.value).toEqual(value);
  });

  test("__proto__ as a key like any other", () => {
    const { value } = parseYaml("__proto__: { a: 1 }");
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

describe("refuses, with the line,", () => {
  test.each<[string, string | Uint8Array, number[]]>([
    ["a key that is given twice", lines("a: 1", "b: 2", "a: 3"), [3]],
    ["a number as a key", lines("a: 1", '"7": 2', "7: 3"), [3]],
    ["true and null as keys", lines("true: 1", "null: 2"), [1, 2]],
    ["nothing as a key", lines("a: 1", ": 2"), [2]],
    ["a list as a key", lines("a: 1", "[b]: 2"), [2]],
    ["an alias as a key", lines("a: &x b", "*x : 2"), [2]],
    ["a tab as an indentation", lines("a:", "\tb: 1"), [2]],
    ["text that does not end", 'a: 1\nb: "x', [2]],
    ["a second document", lines("a: 1", "---", "b: 2"), [2]],
    ["a tag", lines("a: 1", "b: !!binary aGVsbG8="), [2]],
    ["a tag of its own", lines("a: 1", "b: !when 2"), [2]],
    ["tags of YAML 1.1", lines("%YAML 1.1", "---", "a: !!set { b, c }"), [3]],
    ["an unknown directive", lines("%FOO bar", "---", "a: 1"), [1]],
    ["an alias without an anchor", lines("a: 1", "b: *x"), [2]],
    ["an alias before its anchor", lines("a: *x", "b: &x 1"), [1]],
    ["101 aliases", lines("a: &x 1", ...Array.from({ length: 101 }, (_, index) => `b${index}: *x`)), [102]],
    ["aliases of aliases", lines("a: &a [x, x]", ...bomb("a", "b"), ...bomb("b", "c"), ...bomb("c", "d")), [1]],
    ["bytes that are not UTF-8", Buffer.concat([Buffer.from("a: 1\nb: "), Buffer.from([0xc3, 0x28, 0x0a])]), [2]],
    ["UTF-16", Buffer.from("\uFEFFa: 1\n", "utf16le"), [1]],
    ["more than its bytes", "#".repeat(MAX_YAML_BYTES + 1), [1]],
    ["20,000 levels of flow", `a: 1\nb: ${"[".repeat(20_000)}`, [2]],
    ["20,000 levels of blocks in one line", `- a\n${"- ".repeat(20_000)}`, [2]],
    ["200 levels of blocks", lines(...Array.from({ length: 200 }, (_, level) => `${" ".repeat(level)}a:`)), [100]],
  ])("%s", (_what, content, expected) => {
    const parsed = parseYaml(content);
    expect(parsed.errors.map(({ line }) => line)).toEqual(expected);
    for (const { message } of parsed.errors) expect(message).toMatch(/^\S.*\S$/);
    expect(parsed.value).toBeUndefined();
  });

  test("all errors, by line", () => {
    expect(linesOf(lines("a: 1", "7: 2", "a: 3", "8: 4"))).toEqual([2, 3, 4]);
  });
});

/** A list of 9 aliases. */
const bomb = (of: string, name: string): string[] => [`${name}: &${name} [${Array(9).fill(`*${of}`).join(", ")}]`];

describe("the line", () => {
  const { positionOf } = parseYaml(
    lines(
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
    ),
  );

  test.each<[string, (string | number)[], number]>([
    ["of the root", [], 2],
    ["of a key, if its value begins later", ["packages", "id"], 3],
    ["of a section", ["changes"], 5],
    ["of an element", ["changes", 0], 7],
    ["of an element that begins in the next line", ["changes", 0, "add", 1], 10],
    ["of a key in an element", ["changes", 0, "add", 1, "entry"], 10],
    ["of a key in a flow map", ["changes", 0, "when", "package"], 12],
    ["of a key without a value", ["changes", 1, "rewards"], 14],
    ["of the map that lacks a key", ["changes", 0, "when", "from"], 11],
    ["of the element that lacks a key", ["changes", 1, "operations"], 13],
    ["of the list that lacks an element", ["changes", 7], 5],
    ["of a missing section", ["entries"], 2],
    ["at the anchor of an alias", ["changes", 1, "add", 0, "entry"], 8],
    ["of a scalar that has no keys", ["packages", "id", "x", "y"], 3],
  ])("%s", (_what, path, line) => {
    expect(positionOf(path).line).toBe(line);
  });
});
