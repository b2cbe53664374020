/** The operator's contexts file: each kind of problem names its line, and nothing is used of a file that has one. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import type { UtilityContexts } from "../../src/registry/utility/contexts.js";
import { contextsFile, lines } from "../fixtures/contexts.js";
import { quiet } from "../fixtures/run-service.js";

const load = (path: string): Promise<UtilityContexts> => loadContexts({ ...quiet(), contexts: path });

/** The problems of a wrong file, as `line: reason`. */
async function problemsOf(content: string | Uint8Array): Promise<string[]> {
  const path = await contextsFile(content);
  const error: unknown = await load(path).then(
    () => new Error("the file was accepted"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SettingError);
  const [first = "", ...rest] = (error as SettingError).message.split("\n");
  expect(first).toBe("OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts: ");
  for (const line of rest) expect(line.startsWith(`${path}:`)).toBe(true);
  return rest.map((line) => line.slice(path.length + 1));
}

const entry = (...more: readonly string[]): string =>
  lines("entries:", "  shard:", '    template: { package: p, name: "M:T" }', ...more);
const change = (...more: readonly string[]): string => lines("changes:", ...more);

describe("a problem is reported with its line and path", () => {
  test.each<[string, string, number, string]>([
    ["a list for the file", lines("", "- changes"), 2, "must be a map, but is a list"],
    ["a text for the file", "changes", 1, 'must be a map, but is "changes"'],
    [
      "an unknown section",
      lines("changes: []", "change: []"),
      2,
      "change: is not a known field; known fields: packages, entries, changes",
    ],
    ["a section called module", lines("packages: {}", "module: {}"), 2, "module: is not a known field"],
    ["a section called __proto__", lines("packages: {}", "__proto__: {}"), 2, '"__proto__" must not be a key'],
    ["a list of packages", "packages: [a]", 1, "packages: must be a map, but is a list"],
    [
      "a number as a version",
      lines("packages:", "  a1b2: 0.7"),
      2,
      'packages.a1b2: must be a version in quotes, as "0.7.0", but is 0.7',
    ],
    [
      "a text as a version",
      lines("packages:", "  a1b2: latest"),
      2,
      'packages.a1b2: must be a version in quotes, as "0.7.0", but is "latest"',
    ],
    [
      "no version",
      lines("packages:", "  a1b2:"),
      2,
      'packages.a1b2: must be a version in quotes, as "0.7.0", but has no value',
    ],
    ["a list of entries", lines("entries:", "  - shard"), 1, "entries: must be a map, but is a list"],
    ["an entry of no content", lines("entries:", "  shard:"), 2, "entries.shard: must be a map, but has no value"],
    [
      "a template without a package",
      lines(
        "entries:",
        "  shard:",
        '    template: { name: "M:T" }',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      3,
      "entries.shard.template.package: must be the name of a package: letters, digits, - and _, but is missing",
    ],
    [
      "a package with a slash",
      lines(
        "entries:",
        "  shard:",
        "    template:",
        "      package: a/b",
        '      name: "M:T"',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      4,
      "entries.shard.template.package: must be the name of a package",
    ],
    [
      "a template without a module",
      lines(
        "entries:",
        "  shard:",
        "    template:",
        "      package: p",
        "      name: T",
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      5,
      'entries.shard.template.name: must be Module:Entity, but is "T"',
    ],
    [
      "an unknown field of a template",
      lines(
        "entries:",
        "  shard:",
        "    template:",
        "      package: p",
        '      name: "M:T"',
        "      id: x",
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      6,
      "entries.shard.template.id: is not a known field",
    ],
    [
      "no find",
      entry("    value: list"),
      2,
      "entries.shard.find: must be a list of at least one field, but is missing",
    ],
    [
      "an empty find",
      entry("    find: []", "    value: list"),
      4,
      "entries.shard.find: must be a list of at least one field, but is an empty list",
    ],
    [
      "a find that is a map",
      entry("    find: { field: a, is: registrar }", "    value: list"),
      4,
      "entries.shard.find: must be a list of at least one field, but is a map",
    ],
    [
      "a field that is no path",
      entry("    find:", "      - { field: a..b, is: registrar }", "    value: list"),
      5,
      'entries.shard.find[0].field: must be the name of a field, or a path as details.owner, but is "a..b"',
    ],
    [
      "no field",
      entry("    find:", "      - is: registrar", "    value: list"),
      5,
      "entries.shard.find[0].field: must be the name of a field, or a path as details.owner, but is missing",
    ],
    [
      "an unknown value of the request",
      entry("    find:", "      - field: a", "        is: owner", "    value: list"),
      6,
      'entries.shard.find[0].is: must be one of registrar, provider, instrument, sender, receiver, holder, party, but is "owner"',
    ],
    [
      "a prefix of no characters",
      entry("    find:", "      - field: a", "        is: party", "        prefix: 0", "    value: list"),
      7,
      "entries.shard.find[0].prefix: must be an integer from 1 to 300, but is 0",
    ],
    [
      "half a character",
      entry("    find: [{ field: a, is: party, prefix: 1.5 }]", "    value: list"),
      4,
      "entries.shard.find[0].prefix: must be an integer",
    ],
    [
      "two parties",
      entry("    find:", "      - { field: a, is: sender }", "      - { field: b, is: receiver }", "    value: list"),
      4,
      "entries.shard.find: must have at most one field that is a party of the request",
    ],
    [
      "no value",
      entry("    find: [{ field: a, is: registrar }]"),
      2,
      "entries.shard.value: must be one of contract-id, list, map-by-party, but is missing",
    ],
    [
      "an unknown value",
      entry("    find: [{ field: a, is: registrar }]", "    value: text"),
      5,
      'entries.shard.value: must be one of contract-id, list, map-by-party, but is "text"',
    ],
    [
      "one contract id for several parties",
      entry("    find: [{ field: a, is: party }]", "    value: contract-id"),
      5,
      "entries.shard.value: must be list or map-by-party",
    ],
    [
      "a map by party without a party",
      entry("    find: [{ field: a, is: registrar }]", "    value: map-by-party"),
      5,
      "entries.shard.value: must be list or contract-id",
    ],
    [
      "a map by party and instrument",
      entry("    find: [{ field: a, is: holder }, { field: b, is: instrument }]", "    value: map-by-party"),
      5,
      "entries.shard.value: must be list, because a request may have several instruments",
    ],
    [
      "an unknown field of an entry",
      entry("    find: [{ field: a, is: registrar }]", "    value: list", "    keys: both"),
      6,
      "entries.shard.keys: is not a known field",
    ],
    [
      "a name in capitals",
      lines(
        "entries:",
        "  Shard:",
        '    template: { package: p, name: "M:T" }',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      2,
      "entries.Shard: must be a name of lower-case letters",
    ],
    [
      "a name with a line end",
      lines(
        "entries:",
        '  "a\\nb":',
        '    template: { package: p, name: "M:T" }',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      2,
      'entries."a\\nb": must be a name of lower-case letters',
    ],
    [
      "the name of a built-in entry",
      lines(
        "entries:",
        "  transfer-rule:",
        '    template: { package: p, name: "M:T" }',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      2,
      "entries.transfer-rule: must have another name",
    ],
    [
      "the name of a built-in disclosure",
      lines(
        "entries:",
        "  locked-holding:",
        '    template: { package: p, name: "M:T" }',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      2,
      "entries.locked-holding: must have another name",
    ],
    [
      "a template of the registry",
      lines(
        "entries:",
        "  shard:",
        "    template:",
        "      package: utility-registry-v0",
        '      name: "Utility.Registry.V0.Rule.Transfer:TransferRule"',
        "    find: [{ field: a, is: registrar }]",
        "    value: list",
      ),
      3,
      "entries.shard.template: must be a template that the registry does not read already",
    ],
    ["changes that are a map", lines("changes:", "  rewards: true"), 1, "changes: must be a list, but is a map"],
    ["a change that is a text", change("  - rewards"), 2, 'changes[0]: must be a map, but is "rewards"'],
    [
      "a change of nothing",
      change("  - operations: [settlement-factory]"),
      2,
      "changes[0]: must have add, remove, credentials, rewards or keys",
    ],
    [
      "an unknown operation",
      change("  - operations:", "      - settlement-factory", "      - settlement", "    rewards: true"),
      4,
      'changes[0].operations[1]: must be an operation, but is "settlement"; operations: transfer-factory/offer, ',
    ],
    [
      "a pattern that fits nothing",
      change("  - operations: [transfers/*]", "    rewards: true"),
      2,
      "changes[0].operations[0]: must be an operation",
    ],
    [
      "no operation",
      change("  - operations: []", "    rewards: true"),
      2,
      "changes[0].operations: must have at least one operation",
    ],
    [
      "a number as an operation",
      change("  - operations:", "      - 7", "    rewards: true"),
      3,
      "changes[0].operations[0]: must be an operation, but is 7; operations: ",
    ],
    [
      "an unknown entry",
      change("  - add:", "      - entry: transfer-rule", "        keys: [a]", "      - entry: shard"),
      5,
      "changes[0].add[1].entry: must be one of instrument-configuration, ",
    ],
    [
      "an unknown disclosure",
      change("  - add:", "      - disclosure: transfer-rule"),
      3,
      'changes[0].add[0].disclosure: must be one of factory, locked-holding, allocations, allocation-holdings, but is "transfer-rule"',
    ],
    [
      "a line without a name",
      change("  - add:", "      - required: true"),
      3,
      "changes[0].add[0]: must have either an entry or a disclosure",
    ],
    [
      "an entry and a disclosure in one line",
      change("  - add:", "      - disclosure: factory", "        entry: transfer-rule"),
      3,
      "changes[0].add[0]: must have either an entry or a disclosure",
    ],
    [
      "an unknown form of keys",
      change("  - add:", "      - entry: transfer-rule", "        keys: bare"),
      4,
      'changes[0].add[0].keys: must be prefixed, both, or a list of at least one key, but is "bare"',
    ],
    [
      "no keys",
      change("  - add: [{ entry: transfer-rule, keys: [] }]"),
      2,
      "changes[0].add[0].keys: must be prefixed, both, or a list of at least one key, but is an empty list",
    ],
    [
      "a key twice",
      change("  - add:", "      - entry: transfer-rule", "        keys:", "          - a", "          - a"),
      6,
      'changes[0].add[0].keys[1]: must be given once, but "a" is there twice',
    ],
    [
      "a key with a line end",
      change('  - add: [{ entry: transfer-rule, keys: ["a\\nb"] }]'),
      2,
      'changes[0].add[0].keys[0]: must be 1 to 200 visible ASCII characters without spaces, but is "a\\nb"',
    ],
    [
      "a key with half of a surrogate pair",
      change('  - add: [{ entry: transfer-rule, keys: ["\\ud800"] }]'),
      2,
      "changes[0].add[0].keys[0]: must be 1 to 200 visible ASCII characters",
    ],
    [
      "a text for required",
      change("  - add:", "      - entry: transfer-rule", "        keys: [a]", '        required: "yes"'),
      5,
      'changes[0].add[0].required: must be true or false, but is "yes"',
    ],
    [
      "no value for required",
      change("  - add:", "      - entry: transfer-rule", "        keys: [a]", "        required:"),
      5,
      "changes[0].add[0].required: must be true or false, but has no value",
    ],
    [
      "an unknown condition",
      change("  - rewards: true", "    when: checkblocklist"),
      3,
      'changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but is "checkblocklist"',
    ],
    [
      "an empty condition",
      change("  - rewards: true", "    when:"),
      3,
      "changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but has no value",
    ],
    [
      "a list of conditions",
      change("  - rewards: true", "    when: [checkBlocklist]"),
      3,
      "changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but is a list",
    ],
    [
      "a condition without a package",
      change("  - rewards: true", "    when:", '      from: "0.7.0"'),
      3,
      "changes[0].when.package: must be a non-empty string, but is missing",
    ],
    [
      "a condition without a version",
      change("  - rewards: true", "    when:", "      package: p"),
      3,
      "changes[0].when: must have from, before or both",
    ],
    [
      "a number as a bound",
      change("  - rewards: true", "    when:", "      package: p", "      before: 0.7"),
      5,
      'changes[0].when.before: must be a version in quotes, as "0.7.0", but is 0.7',
    ],
    [
      "a range without versions",
      change("  - rewards: true", "    when:", "      package: p", '      from: "0.10.0"', '      before: "0.9.0"'),
      6,
      "changes[0].when.before: must be a later version than from, which is 0.10.0, but is 0.9.0",
    ],
    [
      "an unknown field of a condition",
      change("  - rewards: true", "    when:", "      package: p", '      until: "1.0"', '      before: "1.0"'),
      5,
      "changes[0].when.until: is not a known field",
    ],
    [
      "two conditions",
      change(
        "  - when: checkBlocklist",
        "    add:",
        "      - entry: transfer-rule",
        "        keys: [a]",
        "        when: severalInstruments",
      ),
      6,
      "changes[0].add[0].when: must be absent, because the change has a condition for all its lines",
    ],
    [
      "a condition for what is removed",
      change("  - remove: [transfer-rule]", "    when: checkBlocklist"),
      3,
      "changes[0].when: must be absent from a change that removes, switches off or has keys",
    ],
    [
      "a condition for rewards that are off",
      change("  - rewards: false", "    when: checkBlocklist"),
      3,
      "changes[0].when: must be absent from a change that removes, switches off or has keys",
    ],
    [
      "an unknown name to remove",
      change("  - remove:", "      - transfer-rule", "      - transfer-rules"),
      4,
      "changes[0].remove[1]: must be one of instrument-configuration, ",
    ],
    [
      "a removal of what is not there",
      change("  - operations: [mint-offer/*]", "    remove: [issuer-credentials,", "      transfer-rule]"),
      4,
      "changes[0].remove[1]: must be a line of any of the operations of the change, but transfer-rule is not",
    ],
    [
      "an unknown form of credentials",
      change("  - credentials: always"),
      2,
      'changes[0].credentials: must be one of required, optional, but is "always"',
    ],
    [
      "credentials of operations that have none",
      change("  - operations: [allocation/cancel]", "    credentials: required"),
      3,
      "changes[0].credentials: must be absent: there are no credentials in any of the operations of the change",
    ],
    ["a text for rewards", change('  - rewards: "yes"'), 2, 'changes[0].rewards: must be true or false, but is "yes"'],
    [
      "rewards of operations that never have them",
      change("  - operations: [allocation/*el]", "    rewards: true"),
      2,
      "changes[0].operations[0]: must be an operation",
    ],
    [
      "rewards of an exit",
      change("  - operations: [allocation/cancel]", "    rewards: true"),
      3,
      "changes[0].rewards: must be absent: no reward entries are known for any of the operations of the change",
    ],
    [
      "a key that is there already",
      change(
        "  - operations: [settlement-factory]",
        "    add:",
        "      - entry: holder-credentials",
        "        keys: [a]",
        "      - entry: transfer-rule",
      ),
      6,
      "changes[0].add[1]: must not add the key utility.digitalasset.com/transfer-rule to settlement-factory, which has it: remove that entry in this change",
    ],
    [
      "a key that an earlier change adds",
      change(
        "  - operations: [settlement-factory]",
        "    add: [{ entry: transfer-rule, keys: [a] }]",
        "  - add: [{ entry: holder-credentials, keys: [a], when: checkBlocklist }]",
      ),
      4,
      "changes[1].add[0]: must not add the key a to settlement-factory, which has it",
    ],
    [
      "a required line for exits alone",
      change(
        "  - operations: [transfer-instruction/reject, allocation/cancel]",
        "    add:",
        "      - entry: transfer-rule",
        "        required: true",
      ),
      5,
      "changes[0].add[0].required: must not be true: reject, withdraw and cancel never require a contract",
    ],
    [
      "credentials that are required in two ways",
      change("  - credentials: required", "  - credentials: required", "    when: checkBlocklist"),
      3,
      "changes[1].credentials: must be optional in an earlier change, because sender-credentials is required under another condition",
    ],
    [
      "an unknown field of a change",
      change("  - rewards: true", "    reward: true"),
      3,
      "changes[0].reward: is not a known field; known fields: operations, when, add, remove, credentials, rewards",
    ],
    ["a key given twice", change("  - rewards: true", "    rewards: false"), 3, "Map keys must be unique"],
    ["a tab", change("\t- rewards: true"), 2, "Tabs are not allowed as indentation"],
  ])("%s", async (_title, content, line, reason) => {
    const [problem = "", ...more] = await problemsOf(content);
    expect(more).toEqual([]);
    const [, foundLine, column, text = ""] = /^(\d+):(\d+): (.*)$/.exec(problem) ?? [];
    expect({ line: Number(foundLine), text: text.slice(0, reason.length) }).toEqual({ line, text: reason });
    // Of a key or an element that is there, its first character; or the tab.
    expect(content.split("\n")[line - 1]?.[Number(column) - 1]).toMatch(/[^ ]/);
  });

  test("together with all others, by line", async () => {
    const content = lines(
      "changes:",
      "  - when: never",
      "    operations: [settlement]",
      "    rewards: 1",
      "packages: { a: 1 }",
      "entries:",
      "  Shard: {}",
    );
    const problems = await problemsOf(content);
    expect(problems.map((problem) => problem.split(":")[0])).toEqual(["2", "3", "4", "5", "7"]);
  });

  test("once for a change of many operations", async () => {
    expect(await problemsOf(change("  - add: [{ entry: enable-result-contracts }]"))).toEqual([
      "2:11: changes[0].add[0]: must not add the key utility.digitalasset.com/enable-result-contracts to " +
        "transfer-factory/direct, which has it: remove that entry in this change",
    ]);
  });

  test("without more than 99 others", async () => {
    const path = await contextsFile(change(...Array.from({ length: 250 }, () => "  - {}")));
    const { message } = await load(path).then(
      () => new Error("the file was accepted"),
      (error: Error) => error,
    );
    const reported = message.split("\n").slice(1);
    expect(reported).toHaveLength(101);
    expect(reported[99]?.startsWith(`${path}:101:5: changes[99]: must have`)).toBe(true);
    expect(reported[100]).toBe("and 150 more");
  });

  test("in a bounded message, however long a name is", async () => {
    const long = "x".repeat(100_000);
    for (const content of [
      `${long}: 1`,
      `changes: [{ remove: [${long}] }]`,
      `changes: [{ operations: [${long}], rewards: true }]`,
    ]) {
      const [problem = ""] = await problemsOf(content);
      expect(problem.length).toBeLessThan(2_000);
    }
  });
});

describe("a file that cannot be read", () => {
  test.each<[string, string]>([
    ["is missing", "none.yaml"],
    ["is a folder", "."],
  ])("%s", async (_what, name) => {
    const folder = await mkdtemp(join(tmpdir(), "offledger-contexts-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const error: unknown = await load(join(folder, name)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingError);
    expect((error as SettingError).message).toMatch(/^OFFLEDGER_CONTEXTS must be .*\n(ENOENT|EISDIR): /);
  });

  test("has no end", async () => {
    const error: unknown = await load("/dev/zero").catch((thrown: unknown) => thrown);
    expect((error as SettingError).message).toContain("/dev/zero:1:1: the file must have at most 1048576 bytes");
  });
});

describe("a good file", () => {
  test.each<[string, string]>([
    ["is empty", ""],
    ["has comments alone", "# nothing yet\n"],
    ["has sections whose lines are comments", lines("packages:", "entries:", "changes:", "  # - rewards: true")],
    ["has empty sections", lines("packages: {}", "entries: {}", "changes: []")],
  ])("that %s changes nothing", async (_title, content) => {
    const { table } = await load(await contextsFile(content));
    expect(table).toEqual((await loadContexts(quiet())).table);
  });

  test("may have a byte order mark and CRLF", async () => {
    const { table } = await load(await contextsFile("\uFEFFchanges:\r\n  - rewards: true\r\n"));
    expect(table["burn-mint-factory"].entries.map(({ entry: name }) => name)).toContain("featured-app-right");
  });

  test("has each part that a file may have", async () => {
    const { table, templates, packageVersions } = await load(
      await contextsFile(
        lines(
          "packages:",
          '  a1b2: "0.7.0"',
          "entries:",
          "  shard:",
          '    template: { package: example-blocklist, name: "Example.Blocklist:Shard" }',
          "    find:",
          "      - { field: details.registrar, is: registrar }",
          "      - { field: prefix, is: party, prefix: 2 }",
          "    value: list",
          "changes:",
          "  - operations: [mint-offer/*]",
          '    when: &old { package: utility-registry-app-v0, before: "0.8.0" }',
          "    add:",
          "      - { entry: shard, keys: [shards], required: true }",
          "      - { disclosure: shard }",
          "    credentials: required",
          "  - operations: [mint-offer/accept]",
          "    remove: [enable-result-contracts]",
          "    rewards: true",
        ),
      ),
    );
    const old = { package: "utility-registry-app-v0", from: undefined, before: "0.8.0" };
    const line = { required: false, requiredWhen: undefined, when: undefined };
    expect(table["mint-offer/accept"]).toEqual({
      needsBlocklist: true,
      hasRewards: true,
      allowsMissing: false,
      entries: [
        {
          ...line,
          entry: "instrument-configuration",
          keys: ["utility.digitalasset.com/instrument-configuration"],
          required: true,
        },
        {
          ...line,
          entry: "issuer-credentials",
          keys: ["utility.digitalasset.com/issuer-credentials"],
          required: true,
          requiredWhen: old,
        },
        { ...line, entry: "shard", keys: ["shards"], required: true, when: old },
        { ...line, entry: "app-reward-configuration", keys: ["utility.digitalasset.com/app-reward-configuration"] },
        { ...line, entry: "featured-app-right", keys: ["utility.digitalasset.com/featured-app-right"] },
      ],
      disclosures: [
        { ...line, disclosure: "locked-holding", required: true },
        { ...line, disclosure: "shard", when: old },
      ],
    });
    // Exits never require a contract.
    expect(table["mint-offer/reject"].entries.at(-1)).toEqual({ ...line, entry: "shard", keys: ["shards"], when: old });
    expect(table["mint-request/accept"]).toEqual((await loadContexts(quiet())).table["mint-request/accept"]);
    expect(templates.at(-1)).toMatchObject({
      packageName: "example-blocklist",
      qualifiedName: "Example.Blocklist:Shard",
    });
    expect(packageVersions.versionOf("a1b2")).toBe("0.7.0");
  });

  test("may give one key to different versions of a package", async () => {
    const { table } = await load(
      await contextsFile(
        change(
          "  - operations: [settlement-factory]",
          "    remove: [transfer-rule]",
          "    add:",
          '      - { entry: transfer-rule, when: { package: p, before: "0.8.0" } }',
          '      - { entry: holder-credentials, keys: [utility.digitalasset.com/transfer-rule], when: { package: p, from: "0.8.0" } }',
          '      - { entry: instrument-configuration, keys: [utility.digitalasset.com/transfer-rule], when: { package: q, from: "0.1" } }',
        ),
      ),
    );
    expect(table["settlement-factory"].entries).toHaveLength(7);
  });

  test("may switch on what a change before it has switched off", async () => {
    const path = await contextsFile(
      change("  - rewards: true", "  - rewards: false", "  - credentials: required", "  - credentials: optional"),
    );
    expect((await load(path)).table).toEqual((await loadContexts(quiet())).table);
  });
});
