/** The files in registries/ pass their tests. A mistake in a file is found, with its line and column, and the reason. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseRegistryFile } from "../../src/registry/engine/file.js";
import { parseRegistryTests, runRegistryTests } from "../../src/testing/registry-tests.js";
import { registryOf } from "../fixtures/in-memory.js";

test.each(readdirSync("registries").filter((name) => !name.endsWith(".test.yaml")))("%s", async (name) => {
  const { file, problems } = parseRegistryTests(readFileSync(`registries/${name.replace(".yaml", ".test.yaml")}`));
  if (file === undefined) throw new Error(problems.join("\n"));
  const results = await runRegistryTests(registryOf(name), file);
  expect(results.length).toBeGreaterThan(3);
  expect(results.filter(({ differences }) => differences.length > 0)).toEqual([]);
});

const GOOD = `name: coffee token
package: coffee-token-v1
module: Coffee.Token
templates:
  rules: { name: ":Rules", registrar: admin }
  locked: { name: ":Locked", registrar: admin }
  offer:
    name: ":Offer"
    registrar: transfer.instrumentId.admin
    choices: transfer-instruction
    refs: { locked: lockedCid }
factory: { template: rules }
instruments: [BEAN]
entries:
  locked: { template: locked, byId: locked }
operations:
  transfer-instruction/accept:
    - { disclosure: locked }
  transfer-instruction/reject:
    - { exists: locked, key: expire-lock }
`;

test("a good file has no mistakes", () => {
  expect(parseRegistryFile(GOOD).problems).toBeUndefined();
});

const chain = ["a: b", "b: c", "c: d"].map((pair) =>
  pair.replace(/(.): (.)/, "  $1: { template: locked, byId: $2.next }\n"),
);
const CHOICES =
  "transfer-instruction, allocation-instruction, allocation, mint-offer, mint-request, burn-offer, burn-request";

test.each<[good: string, bad: string, string]>([
  ["package: coffee-token-v1\n", "", "1:1: package: must be a non-empty string, but is missing"],
  [
    "choices: transfer-instruction",
    "choices: transfer",
    `10:5: templates.offer.choices: must be one of ${CHOICES}, but is "transfer"`,
  ],
  ["lockedCid", "locked..cid", "11:13: templates.offer.refs.locked: must be a path such as transfer.sender"],
  [
    "{ template: rules }",
    "{ template: rulez }",
    "12:12: factory.template: template rulez is not defined here: there are rules, locked, offer",
  ],
  [
    "disclosure: locked",
    "disclosure: lock",
    "18:9: operations.transfer-instruction/accept[0].disclosure: entry lock is not defined here: there are locked",
  ],
  [
    "byId: locked }",
    "find: { owner: lock.owner } }",
    "15:31: entries.locked.find: entry lock is not defined here: there are locked",
  ],
  ["byId: locked }", "byId: locked.next }", "15:3: entries.locked: is found by a chain of more than 3 entries"],
  [
    "entries:\n",
    `entries:\n${chain.join("")}  d: { template: locked }\n`,
    "15:3: entries.a: is found by a chain of more than 3 entries",
  ],
  ["transfer-instruction/accept:", "transfer-instruction/use:", "operations"],
])("%j must not be %j", (good, bad, expected) => {
  const { problems = [] } = parseRegistryFile(GOOD.replace(good, bad));
  expect(problems.join("\n")).toContain(expected);
  for (const problem of problems) expect(problem).toMatch(/^\d+:\d+: /);
});

test("all mistakes are found at once, in the order of the file", () => {
  const text = GOOD.replace("admin }\n  locked", "7 }\n  locked")
    .replace("choices: transfer-instruction", "choices: 1")
    .replace("[BEAN]", "BEAN");
  const { problems = [] } = parseRegistryFile(text);
  expect(problems.map((problem) => Number(problem.split(":", 1)[0]))).toEqual([5, 10, 13]);
});
