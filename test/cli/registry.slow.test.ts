/** `offledger registry test` as a process: its output and exit codes. `npm test` builds it first. */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/files.js";
import { formatModule, moduleFields } from "../fixtures/own-registry.js";
import { type Ended, offledger } from "../fixtures/program.js";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  await cp("registries", folder, { recursive: true });
});

/** Configured for another registry, which does not matter. */
const run = (file: string): Promise<Ended> =>
  offledger(["registry", "test", file], { OFFLEDGER_REGISTRY: "minimal" }, folder);

async function change(name: string, from: string, to: string): Promise<void> {
  const path = join(folder, name);
  const text = await readFile(path, "utf8");
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

test("exits with 0 where all cases pass, for the registry file and for its tests", async () => {
  for (const ended of await Promise.all([run("simple-token.yaml"), run("simple-token.test.yaml")])) {
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(ended.out).toMatch(/^ok {3}the instruments are those of the rules\n/);
    expect(ended.out).toMatch(/\n\n15 of 15 cases pass\n$/);
  }
});

test("exits with 1 where one does not, and says what differs", async () => {
  await change("simple-token.yaml", "key: transfer-preapproval,", "key: preapproval,");
  const { code, out, err } = await run("simple-token.yaml");
  expect({ code, err }).toEqual({ code: 1, err: "" });
  expect(out).toContain(
    "\nFAIL a transfer to a receiver with a preapproval is direct\n" +
      '     values: expected {"transfer-preapproval":"preapproval"}, got {"preapproval":"preapproval"}\n' +
      "FAIL a preapproval that ends is used until then\n",
  );
  expect(out).toMatch(/\n\n13 of 15 cases pass\n$/);
});

test("tests a module", async () => {
  const instruments = "() => [{ id: 'LEAF', otherIds: [] }]";
  await writeFile(join(folder, "own.mjs"), formatModule({ ...moduleFields, instruments }));
  const cases =
    "cases: [{ name: one, request: { operation: instruments }, expect: { instruments: [{ id: LEAF }] } }]\n";
  await writeFile(join(folder, "own.test.yaml"), `registrar: tea-club\ncontracts: []\n${cases}`);
  expect(await run("own.mjs")).toEqual({ code: 0, out: "ok   one\n\n1 of 1 cases pass\n", err: "" });
});

test.each<[string, string, string, string]>([
  ["the registry file", "simple-token.yaml", "factory: {", "simple-token.yaml:4:1: factory: "],
  ["the tests", "simple-token.test.yaml", "contracts:", "simple-token.test.yaml:1:1: contracts: "],
])("exits with 2 for a mistake in %s, with line and column", async (_what, name, text, expected) => {
  await change(name, text, text.replace(/^\w+/, "wrong"));
  const { code, out, err } = await run("simple-token.yaml");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(`\n${expected}`);
});

test("exits with 2 for a registry or tests that do not exist, or are folders, and says which", async () => {
  await rm(join(folder, "amulet.test.yaml"));
  await rm(join(folder, "simple-token.yaml"));
  await rm(join(folder, "minimal.test.yaml"));
  await mkdir(join(folder, "minimal.test.yaml"));
  const noRegistry = /^offledger: there is no registry to test: ENOENT.*simple-token\.yaml'\n$/;
  for (const [file, expected] of [
    ["amulet.yaml", /^offledger: amulet\.yaml has no tests: write them to amulet\.test\.yaml \(ENOENT.*\)\n$/],
    ["simple-token.yaml", noRegistry],
    ["simple-token.test.yaml", noRegistry],
    ["minimal.yaml", /^offledger: minimal\.yaml has no tests: .* \(minimal\.test\.yaml is a folder\)\n$/],
    [".", /^offledger: there is no registry to test: \. is a folder\n$/],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- a process after the other
    const { code, out, err } = await run(file);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(expected);
  }
});
