/** Tables of tests: what differs is told, and mistakes in them are found with line and column. */
import { describe, expect, test } from "vitest";
import { parseRegistryTests, runRegistryTests } from "../../src/testing/registry-tests.js";
import { tableOf } from "../fixtures/in-memory.js";

const table = tableOf(`name: tea
package: tea-v1
module: Tea
templates:
  rules: { name: ":Rules", registrar: admin }
  leaf: { name: ":Leaf", registrar: admin }
factory: { template: rules }
instruments: [LEAF, POT]
entries: { rules: { template: rules }, leaf: { template: leaf }, leaves: { template: leaf, find: { admin: registrar }, value: map } }
operations:
  transfer-factory:
    - { entry: rules, key: rules }
    - { entry: leaf, key: leaf }
    - { entry: leaves, key: leaves }
    - { exists: leaf, key: has-leaf }
    - { constant: { tag: AV_Text, value: green }, key: colour }
`);

const TESTS = `registrar: admin
contracts:
  - { contractId: rules, template: ":Rules", payload: { admin: admin } }
  - { contractId: leaf, template: ":Leaf", payload: { admin: admin } }
cases:
  - name: a transfer
    request:
      operation: transfer-factory
      choiceArguments: { transfer: { sender: s, receiver: r, instrumentId: { admin: admin, id: LEAF } } }
    expect: {}
`;
const GOOD = TESTS.replace("expect: {}", "expect: { factory: rules }");

const differences = async (text: string) => {
  const { file, problems } = parseRegistryTests(text);
  if (file === undefined) throw new Error(problems.join("\n"));
  return (await runRegistryTests(table, file)).map((result) => result.differences);
};
const expecting = (expected: string) => differences(TESTS.replace("expect: {}", `expect: ${expected}`));

const values =
  "rules: rules, leaf: leaf, has-leaf: true, colour: { tag: AV_Text, value: green }, " +
  "leaves: { tag: AV_Map, value: { admin: { tag: AV_ContractId, value: leaf } } }";

describe("a case passes", () => {
  test.each([
    "{ factory: rules }",
    "{ transferKind: offer }",
    `{ values: { ${values} } }`,
    "{ disclosed: [leaf, rules] }",
    "{ disclosed: [rules, leaf], inOrder: true }",
  ])("for %s", async (expected) => {
    expect(await expecting(expected)).toEqual([[]]);
  });
});

const listing = (expected: string) =>
  differences(
    `registrar: admin\ncontracts: [{ contractId: rules, template: ":Rules", payload: { admin: admin } }]\n` +
      `cases: [{ name: list, request: { operation: instruments }, expect: { instruments: ${expected} } }]\n`,
  );

describe("what differs is told", () => {
  test.each<[string, string]>([
    ["{ factory: leaf }", 'factory: expected "leaf", got "rules"'],
    ["{ transferKind: self }", 'transferKind: expected "self", got "offer"'],
    ["{ disclosed: [rules] }", 'disclosed: expected ["rules"], got ["rules","leaf"]'],
    ["{ disclosed: [leaf, rules], inOrder: true }", 'disclosed: expected ["leaf","rules"], got ["rules","leaf"]'],
    ["{ instruments: [] }", "instruments: expected [], got undefined"],
  ])("%s", async (expected, difference) => {
    expect(await expecting(expected)).toEqual([[difference]]);
  });

  test.each([
    ["is missing", ""],
    ["is another contract", values.replace("rules: rules", "rules: leaf")],
    ["is another boolean", values.replace("has-leaf: true", "has-leaf: false")],
    ["is another text", values.replace("value: green", "value: black")],
    ["is unexpected", `${values}, more: leaf`],
  ])("a value that %s", async (_what, wrong) => {
    const [[difference = ""] = []] = await expecting(`{ values: { ${wrong} } }`);
    expect(difference).toMatch(/^values: expected \{.*\}, got \{"rules":"rules",.*\}$/);
  });

  test("each field that differs", async () => {
    expect((await expecting("{ factory: leaf, transferKind: self, disclosed: [rules, leaf] }"))[0]).toHaveLength(2);
  });

  test("an answer in place of a refusal", async () => {
    const [[difference = ""] = []] = await expecting("{ status: 404, message: gone }");
    expect(difference).toMatch(/^answer: expected \{"status":404,"message":"gone"\}, got \{"factory":"rules",/);
  });

  test("a refusal in place of an answer", async () => {
    const refused = TESTS.replace("expect: {}", "expect: { factory: rules }").replace("id: LEAF", "id: CUP");
    expect(await differences(refused)).toEqual([
      [
        'answer: expected {"factory":"rules"}, got {"status":404,"code":"instrument-unknown",' +
          '"message":"registrar admin has no instrument \\"CUP\\""}',
      ],
    ]);
  });

  test.each<[string, string[]]>([
    ['{ status: 404, code: instrument-unknown, message: no instrument "CUP" }', []],
    ["{ status: 409 }", ["status: expected 409, got 404"]],
    ["{ code: not-found }", ['code: expected "not-found", got "instrument-unknown"']],
    ["{ message: no cup }", ['message: expected "no cup", got "registrar admin has no instrument \\"CUP\\""']],
  ])("in a refusal: %s", async (expected, found) => {
    expect(
      await differences(TESTS.replace("expect: {}", `expect: ${expected}`).replace("id: LEAF", "id: CUP")),
    ).toEqual([found]);
  });

  test("an instrument without a field, and one that is not listed", async () => {
    expect(await listing("[{ id: LEAF, decimals: 10 }, { id: POT }]")).toEqual([[]]);
    for (const wrong of ["[{ id: LEAF, decimals: 2 }, { id: POT }]", "[{ id: LEAF }]", "[{ id: LEAF, more: 1 }, {}]"])
      expect((await listing(wrong))[0]).toHaveLength(1);
  });

  test("contracts that cannot be read", async () => {
    const [[difference = ""] = []] = await differences(GOOD.replace('":Leaf"', '":Cup"'));
    expect(difference).toBe("failed: template :Cup is none of the registry's: Tea:Rules, Tea:Leaf");
  });
});

test("a contract of a case takes the place of one with its id", async () => {
  const replaced = GOOD.replace(
    "    request:",
    '    contracts: [{ contractId: rules, template: ":Rules", payload: { admin: other } }]\n    request:',
  );
  expect((await differences(replaced))[0]?.[0]).toContain("registrar-not-served");
});

describe("mistakes", () => {
  const EXPECT = "10:5: cases[0].expect: must";
  test.each<[good: string, bad: string, string]>([
    ["contracts:\n", "contracts: [\n", "3:"],
    ["registrar: admin\n", "", "6:5: cases[0].request: must have a registrar, which the file has not"],
    ["transfer-factory", "transfer-shop", "8:7: cases[0].request.operation: "],
    ["contractId: leaf", "id: leaf", "4:5: contracts[1]"],
    ["{ factory: rules }", "{}", `${EXPECT} have at least one field`],
    [
      "{ factory: rules }",
      "{ factory: rules, status: 404 }",
      `${EXPECT} be an answer, or a refusal with status, code and message, but not both`,
    ],
    [
      "{ factory: rules }",
      "{ values: { a: 1 } }",
      "10:25: cases[0].expect.values.a: must be a contract id, true, false, a list of contract ids, or an object",
    ],
  ])("%j must not be %j", (good, bad, expected) => {
    const { problems = [] } = parseRegistryTests(GOOD.replace(good, bad));
    expect(problems.join("\n")).toContain(expected);
    for (const problem of problems) expect(problem).toMatch(/^\d+:\d+: /);
  });

  test("there are none in a good file", () => {
    expect(parseRegistryTests(GOOD).problems).toBeUndefined();
  });
});
