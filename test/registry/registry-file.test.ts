/** Mistakes in a registry file: each is found, with its line and column, and the reason. */
import { expect, test } from "vitest";
import { parseRegistryFile } from "../../src/registry/engine/definition.js";

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
  locked: { template: locked, byId: locked, optional: true }
operations:
  transfer-instruction/accept:
    - { disclosure: locked }
  transfer-instruction/reject:
    - { exists: locked, key: expire-lock }
`;

test("a good file has none", () => {
  expect(parseRegistryFile(GOOD).problems).toBeUndefined();
});

test.each<[string, string, string, string]>([
  ["YAML that cannot be parsed", "instruments: [BEAN]", "instruments: [BEAN", "14:1: "],
  [
    "a field that is missing",
    "package: coffee-token-v1\n",
    "",
    "1:1: package: must be a non-empty string, but is missing",
  ],
  [
    "a field that is not known",
    "choices:",
    "choice:",
    "10:5: templates.offer.choice: is not a known field; known fields: name, package, ",
  ],
  ["a field that is given twice", "name: coffee token", "name: a\nname: b", "2:1: Map keys must be unique"],
  [
    "a value of another type",
    "registrar: admin }\n  locked",
    "registrar: 7 }\n  locked",
    "5:28: templates.rules.registrar: must be a path such as transfer.sender, ",
  ],
  [
    "a value that is none of several",
    "choices: transfer-instruction",
    "choices: transfer",
    '10:5: templates.offer.choices: must be one of transfer-instruction, allocation, allocation-instruction, but is "transfer"',
  ],
  [
    "a path that is none",
    "lockedCid",
    "locked..cid",
    "11:13: templates.offer.refs.locked: must be a path such as transfer.sender",
  ],
  [
    "a template that is not defined",
    "{ template: rules }",
    "{ template: rulez }",
    "12:12: factory.template: template rulez is not defined here: there are rules, locked, offer",
  ],
  [
    "an entry that is not defined",
    "disclosure: locked",
    "disclosure: lock",
    "18:9: operations.transfer-instruction/accept[0].disclosure: entry lock is not defined here: there are locked",
  ],
  [
    "a value of an entry that is not defined",
    "byId: locked,",
    "find: { owner: lock.owner },",
    "15:31: entries.locked.find: entry lock is not defined here: there are locked",
  ],
  [
    "an entry that is found by itself",
    "byId: locked,",
    "byId: locked.next,",
    "15:3: entries.locked: is found by a chain of more than 3 entries",
  ],
  [
    "a chain of four entries",
    "entries:\n",
    `entries:\n${["a: b", "b: c", "c: d"].map((pair) => pair.replace(/(.): (.)/, "  $1: { template: locked, byId: $2.next }\n")).join("")}  d: { template: locked }\n`,
    "15:3: entries.a: is found by a chain of more than 3 entries",
  ],
  [
    "a line that writes without a key",
    ", key: expire-lock",
    "",
    "20:7: operations.transfer-instruction/reject[0]: must have a key",
  ],
  [
    "a line of two kinds",
    "exists: locked",
    "exists: locked, require: locked",
    "must have one of entry, disclosure, require, exists, archived, constant, include, but has require and exists",
  ],
  ["an operation that does not exist", "transfer-instruction/accept:", "transfer-instruction/use:", "operations"],
])("%s", (_what, good, bad, expected) => {
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
