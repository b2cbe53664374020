/** What is read from sources: docs/errors.md has every code of a refusal; proto files say where generated code goes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withLists } from "../../scripts/errors-doc.js";
import { causes } from "../../src/domain/causes.js";

test("docs/errors.md has the lists of the causes: npm run errors", () => {
  const page = readFileSync("docs/errors.md", "utf8");
  expect(withLists(page)).toBe(page);
});

test("every cause of the table is one of the source", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|yaml)$/.test(name) && name !== join("domain", "causes.ts"))
    .map((name) => readFileSync(join("src", name), "utf8"))
    .join("\n");
  const isRaised = (code: string): boolean => {
    const [, kind, form] = /^(.*)-(missing|moving)$/.exec(code) ?? [];
    const ofKind = form !== undefined && new RegExp(`\\bkind: "?${kind}\\b`).test(sources);
    return ofKind || sources.includes(`"${code}"`) || sources.includes(`"${code.toUpperCase().replaceAll("-", "_")}"`);
  };
  expect(Object.keys(causes).filter((code) => !isRaised(code))).toEqual([]);
});

/** The file options for languages whose default does not fit. */
const root = "proto/offledger";
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".proto"));

const pascal = (words: string): string =>
  words
    .split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");

test.each(files)("%s has the options of its package", (name) => {
  const text = readFileSync(join(root, name), "utf8");
  const [group = "", version = ""] = name.split("/");
  expect(text).toContain(`package offledger.${group}.${version};`);
  expect([...text.matchAll(/^option (\w+) = (.*);$/gm)].map(([, option, value]) => [option, value])).toEqual([
    ["csharp_namespace", `"Offledger.${pascal(group)}.${pascal(version)}"`],
    ["go_package", `"offledger/${group}/${version};${group.replaceAll("_", "")}${version}"`],
    ["java_multiple_files", "true"],
    ["java_package", `"offledger.${group}.${version}"`],
  ]);
});
