/** Random contexts files: good ones are accepted; wrong ones are refused with file, line and reason, and never crash. */
import fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import { lines } from "../fixtures/contexts.js";
import { quiet } from "../fixtures/run-service.js";

let path: string;
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), "offledger-contexts-")), "contexts.yaml");
});
afterAll(() => rm(join(path, ".."), { recursive: true }));

/** The lines of the problems of a file; none if it is accepted. Throws if a problem lacks file, line or reason. */
async function wrongLines(content: string | Uint8Array): Promise<readonly number[]> {
  await writeFile(path, content);
  const error: unknown = await loadContexts({ ...quiet(), contexts: path }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return [];
  // Any other error is a crash.
  if (!(error instanceof SettingError)) throw error;
  const last = Buffer.from(content).toString("latin1").split("\n").length;
  const problems = error.message
    .split("\n")
    .slice(1)
    .filter((problem) => !/^and \d+ more$/.test(problem));
  const found = problems.map((problem) => {
    const [, line] = /^:(\d+):\d+: \S/.exec(problem.startsWith(path) ? problem.slice(path.length) : "") ?? [];
    return Number(line);
  });
  if (found.length > 0 && found.every((line) => line >= 1 && line <= last)) return found;
  throw new Error(`no file, line or reason in ${error.message}`);
}

const operation = fc.constantFrom(
  "transfer-factory/*",
  "transfer-instruction/accept",
  "allocation/execute-transfer",
  "mint-offer/*",
  "burn-mint-factory",
  "*",
);

const entryArbitrary = fc.record({
  name: fc.constantFrom("shard", "blocklist", "a", "entry-2"),
  field: fc.constantFrom("registrar", "details.registrar", "owner"),
  is: fc.constantFrom("registrar", "provider", "instrument", "sender", "party"),
  prefix: fc.integer({ min: 1, max: 300 }),
});

const changeArbitrary = fc.record({
  operations: fc.uniqueArray(operation, { minLength: 1, maxLength: 3 }),
  required: fc.boolean(),
  keys: fc.integer({ min: 1, max: 3 }),
  rest: fc.constantFrom(
    "    when: checkBlocklist",
    '    when: { package: utility-registry-v0, from: "0.7.0", before: "0.9.0" }',
    "    rewards: true",
    "    credentials: optional",
  ),
});

const fileParts = fc.record({
  packages: fc.uniqueArray(fc.stringMatching(/^[a-f][0-9a-f]{9}$/), { minLength: 1, maxLength: 4 }),
  entries: fc.uniqueArray(entryArbitrary, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
  changes: fc.array(changeArbitrary, { minLength: 1, maxLength: 4 }),
});

/** Each change has keys of its own, so that none collides with another. */
function linesOf({ packages, entries, changes }: typeof fileParts extends fc.Arbitrary<infer T> ? T : never): string[] {
  return [
    "# a comment",
    "packages:",
    ...packages.map((id, index) => `  ${id}: "0.${index}.1"`),
    "entries:",
    ...entries.flatMap(({ name, field, is, prefix }) => [
      `  ${name}:`,
      "    template:",
      "      package: example-blocklist",
      `      name: "Example.Blocklist:${name.replaceAll("-", "_")}"`,
      "    find:",
      `      - field: ${field}`,
      `        is: ${is}`,
      `        prefix: ${prefix}`,
      "    value: list",
    ]),
    "changes:",
    ...changes.flatMap(({ operations, required, keys, rest }, index) => [
      "  - operations:",
      ...operations.map((name) => `      - "${name}"`),
      "    add:",
      "      - entry: transfer-rule",
      "        keys:",
      ...Array.from({ length: keys }, (_, key) => `          - own/${index}/${key}`),
      `        required: ${required}`,
      "      - disclosure: factory",
      rest,
    ]),
  ];
}

/** The lines of a good file. */
const fileArbitrary = fileParts.map(linesOf);

/** Starts of lines, and what must not follow them. */
const wrongValues: readonly (readonly [start: RegExp, values: readonly string[]])[] = [
  [/^ {2}[a-f][0-9a-f]{9}: /, ["0.7", "1", "latest", '"1."', '"v1"', "[]", "{}", "true"]],
  [/^ {6}- (?=")/, ["settlement", '"transfer/*"', "5", "~", '""', "[settlement-factory]", '"**"']],
  [/^ +- field: /, ["5", "[a]", '""', "a..b", "a b", "true", ".a"]],
  [/^ +is: /, ["owner", "Registrar", "[registrar]", "1", "~"]],
  [/^ +prefix: /, ["0", "301", "1.5", '"2"', "-1", "true", ".nan", ".inf", "~"]],
  [/^ +value: /, ["text", "List", "[list]", "1", "~"]],
  [/^ +required: /, ['"yes"', "yes", "1", "[]", "{}", "~"]],
  [/^ +rewards: /, ['"true"', "on", "0", "[true]", "~"]],
  [/^ +credentials: /, ["true", "needed", "[required]", "~"]],
  [
    /^ +when: /,
    ["never", "CheckBlocklist", "[checkBlocklist]", "true", "{}", "{ package: p }", '{ from: "1.0" }', "~"],
  ],
  [/^ +- entry: /, ["shards", "Transfer-Rule", "5", "[transfer-rule]", "~"]],
  [/^ +- disclosure: /, ["transfer-rule", "Factory", "5", "{}", "~"]],
  [/^ +name: /, ["T", "5", '"M:"', '":T"', '"M:T:U"', "[]"]],
  [/^ +package: /, ["5", "a/b", "a b", "[]", '""']],
  // A field is unknown, or given twice.
  [/^ +(?:is|value|required|when|rewards|credentials|name|package): .*\n/, ["__proto__: {}", "x: {}", '"": {}']],
];

test("a wrong value is refused with its line", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fileArbitrary, fc.nat(), fc.nat(), fc.nat(), async (good, a, b, c) => {
      const usable = wrongValues.filter(([start]) => good.some((line) => start.test(`${line}\n`)));
      const [start, values] = usable[a % usable.length] ?? [/^/, []];
      const places = good.flatMap((line, index) => (start.test(`${line}\n`) ? [index] : []));
      const index = places[b % places.length] ?? 0;
      const value = values[c % values.length] ?? "";
      const [before = ""] = start.exec(`${good[index]}\n`) ?? [];
      const indent = before.endsWith("\n") ? before + (/^ +/.exec(before)?.[0] ?? "") : before;
      const wrong = lines(...good.with(index, indent + value));
      expect(await wrongLines(wrong)).toContain(index + (before.endsWith("\n") ? 2 : 1));
    }),
    { numRuns: 1_000 },
  );
});

test("a good file is accepted, with any line end and a byte order mark", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fileArbitrary, fc.constantFrom("\n", "\r\n"), fc.boolean(), async (good, end, hasMark) => {
      expect(await wrongLines((hasMark ? "\uFEFF" : "") + lines(...good).replaceAll("\n", end))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("random changes of characters are accepted, or refused with line and reason", { timeout: 300_000 }, async () => {
  const characters = fc.constantFrom(...Array.from(`\t\n\r -:,[]{}&*!|>'"%@#?\\\`~0a\0\uFEFF\u2028é😀`));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), characters), { minLength: 1, maxLength: 5 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fileArbitrary, edits, async (good, changes) => {
      let text = lines(...good);
      for (const [where, removed, added] of changes) {
        const at = where % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      if ((await wrongLines(text)).length > 0) refused++;
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});
