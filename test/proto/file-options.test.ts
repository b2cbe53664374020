/** The file options that say where generated code goes, in languages whose default does not fit. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

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
