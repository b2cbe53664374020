/** What is read from sources: docs/errors.md has every code of a refusal; proto files say where generated code goes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** The codes of these are warnings, or belong to other errors. */
const NOT_REFUSALS = [
  join("registry", "utility", "check"),
  join("registry", "engine", "problems"),
  join("registry", "check"),
  "util",
  "telemetry",
  "ledger",
  "app",
];

/** Codes that `kind` would give, and for which the rules have no request. */
const NEVER = [
  // An instruction is named by the request: it is unknown or archived.
  "instruction-missing",
  // A transfer without a preapproval that can be used is an offer.
  "preapproval-missing",
  "preapproval-moving",
];

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:ts|yaml)$/.test(name) && !NOT_REFUSALS.some((folder) => name.startsWith(folder)))
  .map((name) => readFileSync(join("src", name), "utf8"));

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = ""]) => found);

const STATUSES = new Map([
  ["invalid", "400"],
  ["notFound", "404"],
  ["not-found", "404"],
  ["conflict", "409"],
  ["unsupported", "501"],
  ["unavailable", "503"],
]);

/** The statuses by code. A code belongs to the call of an error that begins before it. */
function codesInSource(): Map<string, string> {
  const statuses = new Map<string, Set<string>>();
  const add = (code: string, reason = "") => {
    const known = statuses.get(code) ?? new Set();
    statuses.set(code, known.add(STATUSES.get(reason) ?? "unknown"));
  };
  for (const text of sources) {
    for (const { index, 1: code = "" } of text.matchAll(/\bcode: "([a-z-]+)"/g))
      add(code, matches(text.slice(0, index), /\b(invalid|notFound|conflict|unavailable|unsupported)\(/g).at(-1));
    for (const kind of matches(text, /\bkind: "?([a-z-]+)(?:"|$)/gm)) {
      add(`${kind}-missing`, "notFound");
      add(`${kind}-moving`, "conflict");
    }
  }
  const errors = readFileSync(join("src", "domain", "errors.ts"), "utf8");
  const [, general = ""] = /generalCodes[^=]*= \{([^}]*)\}/.exec(errors) ?? [];
  for (const [, reason, code = ""] of general.matchAll(/"?([a-z-]+)"?: "([a-z-]+)"/g)) add(code, reason);
  return new Map(Array.from(statuses, ([code, found]) => [code, [...found].toSorted().join(", ")]));
}

/** The status of each code of the tables. */
const listed = new Map(
  [...readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([a-z]+(?:-[a-z]+)*)` \| (\d{3}(?:, \d{3})*) \|/gm)].map(
    ([, code = "", status]) => [code, status],
  ),
);

test("the tables have every code of the source with its status, and no other", () => {
  const inSource = codesInSource();
  for (const code of NEVER) expect(inSource.delete(code)).toBe(true);
  expect(inSource.size).toBeGreaterThan(20);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(inSource));
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
