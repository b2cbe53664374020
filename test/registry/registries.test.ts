/** The tables in registries/ pass their tests. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseRegistryFile } from "../../src/registry/engine/definition.js";
import { parseRegistryTests, runRegistryTests } from "../../src/testing/registry-tests.js";

const tables = readdirSync("registries").filter((name) => !name.endsWith(".test.yaml"));

test.each(tables)("%s", async (name) => {
  const table = parseRegistryFile(readFileSync(`registries/${name}`));
  const tests = parseRegistryTests(readFileSync(`registries/${name.replace(".yaml", ".test.yaml")}`));
  expect([table.problems, tests.problems]).toEqual([undefined, undefined]);
  if (table.file === undefined || tests.file === undefined) return;
  const results = await runRegistryTests(table.file, tests.file);
  expect(results.length).toBeGreaterThan(3);
  expect(results.filter(({ differences }) => differences.length > 0)).toEqual([]);
});
