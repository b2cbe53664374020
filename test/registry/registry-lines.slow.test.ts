/** Each line of the tables in registries/ matters to one of their tests: without it a case fails, or the table is not valid. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import { parseRegistryTests, type RegistryTests, runRegistryTests } from "../../src/testing/registry-tests.js";
import { tableFrom } from "../fixtures/in-memory.js";

const tables = readdirSync("registries").filter((name) => !name.endsWith(".test.yaml"));

type Path = readonly (string | number)[];

/** Every key and every element. What aliases repeat counts once, where its anchor is. */
function pathsIn(value: unknown, path: Path = [], seen = new Set<unknown>()): Path[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [...keys].flatMap((key) => {
    const inner: Path[] = [path.concat(key)];
    return inner.concat(pathsIn((value as Record<string | number, unknown>)[key], path.concat(key), seen));
  });
}

/** A copy, which keeps what aliases share. */
function without(table: unknown, path: Path): unknown {
  const copy = structuredClone(table) as Record<string | number, unknown>;
  const parent = path.slice(0, -1).reduce((inner, key) => inner[key] as typeof copy, copy);
  const last = path.at(-1) ?? "";
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

/** Whether the table is valid and passes all cases. */
async function passes(content: unknown, tests: RegistryTests): Promise<boolean> {
  const table = tableFrom(content);
  if (table === undefined) return false;
  const registry = tableRegistry(table);
  for (const one of tests.cases) {
    // oxlint-disable-next-line no-await-in-loop -- the first that fails decides
    const [result] = await runRegistryTests(registry, { ...tests, cases: [one] });
    if (result?.differences.length !== 0) return false;
  }
  return true;
}

test.each(tables)("%s", async (name) => {
  const tests = parseRegistryTests(readFileSync(`registries/${name.replace(".yaml", ".test.yaml")}`)).file;
  const value: unknown = parse(readFileSync(`registries/${name}`, "utf8"));
  if (tests === undefined) throw new Error(`the tests of ${name} have mistakes`);
  // The whole table passes: what fails below fails without its line.
  expect(await passes(value, tests)).toBe(true);
  // What it is called matters to people.
  const paths = pathsIn(value).filter((path) => path.join(".") !== "name");
  expect(paths.length).toBeGreaterThan(5);
  const needless: string[] = [];
  for (const path of paths) {
    // oxlint-disable-next-line no-await-in-loop -- in sequence: it computes, and waits for nothing
    if (await passes(without(value, path), tests)) needless.push(path.join("."));
  }
  expect(needless).toEqual([]);
});
