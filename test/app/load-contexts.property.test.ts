/** Contexts files that are wrong in random places: each is refused with file, line and reason; good ones are accepted. */
import fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import { lines } from "../fixtures/contexts.js";
import { quiet } from "../fixtures/run-service.js";
import { damage, damages, fileArbitrary, type WrongFile } from "./wrong-contexts.js";

const RUNS = 1_000;

let path: string;
let builtIn: string;
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), "offledger-contexts-")), "contexts.yaml");
  builtIn = JSON.stringify((await loadContexts(quiet())).table);
});
afterAll(() => rm(join(path, ".."), { recursive: true }));

interface Loaded {
  readonly isAccepted: boolean;
  /** The line of each problem. */
  readonly lines: readonly number[];
}

/** Loads a file. Throws unless it is accepted, or refused with file, line and reason. */
async function load(content: string | Uint8Array): Promise<Loaded> {
  await writeFile(path, content);
  try {
    await loadContexts({ ...quiet(), contexts: path });
    return { isAccepted: true, lines: [] };
  } catch (error) {
    // Any other error is a crash.
    if (!(error instanceof SettingError)) throw error;
    return {
      isAccepted: false,
      lines: linesIn(error.message, Buffer.from(content).toString("latin1").split("\n").length),
    };
  }
}

/** The lines that a message names, from 1 to `last`. Throws if it lacks file, line or reason. */
function linesIn(message: string, last: number): number[] {
  const [first, ...problems] = message.split("\n");
  const found = problems
    .filter((problem) => !/^and \d+ more$/.test(problem))
    .map((problem) => {
      const [, line] = /^:(\d+):\d+: \S/.exec(problem.startsWith(path) ? problem.slice(path.length) : "") ?? [];
      return Number(line);
    });
  const isComplete = found.length > 0 && found.every((line) => line >= 1 && line <= last);
  if (isComplete && first === "OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts: ") return found;
  throw new Error(`no file, line or reason in ${message}`);
}

const bytesOf = ({ content }: WrongFile): Uint8Array => Buffer.from(content);

test(`${RUNS} wrong files are refused`, { timeout: 300_000 }, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fileArbitrary, damage, fc.infiniteStream(fc.nat()), async (good, kind, numbers) => {
      const wrong = damages[kind](good, () => numbers.next().value ?? 0);
      const { isAccepted, lines: found } = await load(bytesOf(wrong));
      const names = wrong.line === undefined || found.includes(wrong.line);
      expect({ kind, isAccepted, names, found }).toEqual({ kind, isAccepted: false, names: true, found });
      // Nothing of it is used by what is loaded next.
      expect(JSON.stringify((await loadContexts(quiet())).table)).toBe(builtIn);
      seen.add(kind);
    }),
    { numRuns: RUNS },
  );
  expect([...seen].toSorted()).toEqual(Object.keys(damages).toSorted());
});

test("300 good files are accepted, with any line end and a byte order mark", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fileArbitrary, fc.constantFrom("\n", "\r\n"), fc.boolean(), async (good, end, hasMark) => {
      const content = (hasMark ? "\uFEFF" : "") + lines(...good).replaceAll("\n", end);
      expect(await load(content)).toEqual({ isAccepted: true, lines: [] });
    }),
    { numRuns: 300 },
  );
});

test("500 files with random changes of characters are accepted or refused", { timeout: 300_000 }, async () => {
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
      if (!(await load(text)).isAccepted) refused++;
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});

test("200 files of random bytes are refused, or say nothing", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 400 }), async (bytes) => {
      await load(bytes);
      expect(JSON.stringify((await loadContexts(quiet())).table)).toBe(builtIn);
    }),
    { numRuns: 200 },
  );
});
