/** Random changes of a good contexts file: it is accepted, or refused with file, line and reason; nothing crashes. */
import fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
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

/** A file with every kind of field. */
const good = `# a comment
packages:
  a1b2c3d4e5: "0.7.1"
templates:
  shard:
    package: example-blocklist
    name: "Example.Blocklist:Shard"
    registrar: details.registrar
    margin: 5
entries:
  shard:
    template: shard
    find:
      details.registrar: registrar
      prefix: start(party, 2)
    value: list
changes:
  - on:
      - "transfer-factory/*"
      - "burn-mint-factory"
    add:
      - entry: transfer-rule
        key:
          - own/0
          - own/1
        missing: refuse
      - disclosure: factory
    if: { package: utility-registry-v0, from: "0.7.0", before: "0.9.0" }
  - set:
      entry: sender-credentials
      missing: omit
`.split("\n");

/** Starts of lines, and what must not follow them. */
const wrongValues: readonly (readonly [start: RegExp, values: readonly string[]])[] = [
  [/^ {2}[a-f][0-9a-f]{9}: /, ["0.7", "1", "latest", '"1."', '"v1"', "[]", "{}", "true"]],
  [/^ {6}- (?=")/, ["settlement", '"transfer/*"', "5", "~", '""', "[settlement-factory]", '"x*"']],
  [/^ +registrar: /, ["5", "[a]", '""', "a..b", "a b", "true", ".a"]],
  [/^ +prefix: /, ["owner", "Registrar", "[registrar]", "1", "~", "start(party, 0)", "start(party, 301)"]],
  [/^ +margin: /, ["-1", "86401", "1.5", '"2"', "true", ".nan", ".inf", "~"]],
  [/^ +value: /, ["text", "List", "[list]", "1", "~"]],
  [/^ +missing: /, ['"yes"', "Refuse", "1", "[]", "{}", "~"]],
  [/^ +if: /, ["never", "CheckBlocklist", "[never]", "true", "{}", "{ package: p }", '{ from: "1.0" }', "~"]],
  [/^ +- entry: /, ["shards", "Transfer-Rule", "5", "[transfer-rule]", "~"]],
  [/^ +- disclosure: /, ["sender-credentials", "Factory", "5", "{}", "~"]],
  [/^ +name: /, ["5", '""', "[]"]],
  [/^ +package: /, ["5", "[]", '""']],
  // A field is unknown, or given twice.
  [/^ +(?:value|missing|if|name|package): .*\n/, ["__proto__: {}", "x: {}", '"": {}']],
];

test("the file is accepted, with any line end and a byte order mark", async () => {
  for (const text of [good.join("\n"), `\uFEFF${good.join("\r\n")}`]) expect(await wrongLines(text)).toEqual([]);
});

test("a wrong value is refused with its line", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), async (a, b, c) => {
      const [start, values] = wrongValues[a % wrongValues.length] ?? [/^/, []];
      const places = good.flatMap((line, index) => (start.test(`${line}\n`) ? [index] : []));
      const index = places[b % places.length] ?? -1;
      const [before = ""] = start.exec(`${good[index]}\n`) ?? [];
      const indent = before.endsWith("\n") ? before + (/^ +/.exec(before)?.[0] ?? "") : before;
      const wrong = good.with(index, indent + (values[c % values.length] ?? ""));
      expect(await wrongLines(wrong.join("\n"))).toContain(index + (before.endsWith("\n") ? 2 : 1));
    }),
    { numRuns: 500 },
  );
});

test("random changes of characters are accepted, or refused with line and reason", { timeout: 300_000 }, async () => {
  const characters = fc.constantFrom(...Array.from(`\t\n\r -:,[]{}&*!|>'"%@#?\\\`~0a\0\uFEFF\u2028é😀`));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), characters), { minLength: 1, maxLength: 5 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(edits, async (changes) => {
      let text = good.join("\n");
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
