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

test("the file is accepted, with any line end and a byte order mark", async () => {
  for (const text of [good.join("\n"), `\uFEFF${good.join("\r\n")}`]) expect(await wrongLines(text)).toEqual([]);
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
