/** The operator's contexts file: each mistake names its line and column, and nothing is used of a file that has one. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import type { UtilityContexts } from "../../src/registry/utility/contexts.js";
import { contextsFile, lines, markedMistakes, shortenedTo } from "../fixtures/contexts.js";
import { temporaryFolder } from "../fixtures/files.js";
import { quiet } from "../fixtures/run-service.js";

const load = (path: string): Promise<UtilityContexts> => loadContexts({ ...quiet(), contexts: path });
const loadText = async (...texts: readonly string[]): Promise<UtilityContexts> =>
  load(await contextsFile(lines(...texts)));
const builtIn = await loadContexts(quiet());

async function errorOf(path: string): Promise<string> {
  const error: unknown = await load(path).catch((thrown: unknown) => thrown);
  if (error instanceof SettingError) return error.message;
  throw new Error("the file was accepted, or cannot be read", { cause: error });
}

/** The problems of a wrong file, as `line:column: path: reason`. */
async function problemsOf(content: string): Promise<string[]> {
  const path = await contextsFile(content);
  const [first, ...rest] = (await errorOf(path)).split("\n");
  expect(first).toBe("OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts: ");
  return rest.map((line) => (line.startsWith(`${path}:`) ? line.slice(path.length + 1) : line));
}

const mistakes = markedMistakes(String.raw`
- changes
^ must be a map, but is a list
changes
^ must be a map, but is "changes"
packages: {}
change: []
^ change: is not a known field; known fields: packages, entries, changes
__proto__: {}
^ "__proto__" must not be a key
changes: [{ rewards: true, rewards: false }]
                           ^ Map keys must be unique

packages: [a]
^ packages: must be a map, but is a list
packages: { a1b2: 0.7 }
            ^ packages.a1b2: must be a version in quotes, as "0.7.0", but is 0.7
packages: { a1b2: latest }
            ^ packages.a1b2: must be a version in quotes, as "0.7.0", but is "latest"
packages:
  a1b2:
  ^ packages.a1b2: must be a version in quotes, as "0.7.0", but has no value

entries: [shard]
^ entries: must be a map, but is a list
entries:
  shard:
  ^ entries.shard: must be a map, but has no value
entries: { shard: { template: { name: M:T }, find: [{ field: a, is: party }], value: list } }
                    ^ entries.shard.template.package: must be the name of a package: letters, digits, - and _, but is missing
entries: { shard: { template: { package: a/b, name: M:T }, find: [{ field: a, is: party }], value: list } }
                                ^ entries.shard.template.package: must be the name of a package: letters, digits, - and _, but is "a/b"
entries: { shard: { template: { package: p, name: T }, find: [{ field: a, is: party }], value: list } }
                                            ^ entries.shard.template.name: must be Module:Entity, but is "T"
entries: { shard: { template: { package: p, name: M:T, id: x }, find: [{ field: a, is: party }], value: list } }
                                                       ^ entries.shard.template.id: is not a known field; known fields: package, name
entries: { shard: { template: { package: p, name: M:T }, value: list } }
           ^ entries.shard.find: must be a list of at least one field, but is missing
entries: { shard: { template: { package: p, name: M:T }, find: [], value: list } }
                                                         ^ entries.shard.find: must be a list of at least one field, but is an empty list
entries: { shard: { template: { package: p, name: M:T }, find: { field: a, is: party }, value: list } }
                                                         ^ entries.shard.find: must be a list of at least one field, but is a map
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a..b, is: party }], value: list } }
                                                                  ^ entries.shard.find[0].field: must be the name of a field, or a path as details.owner, but is "a..b"
entries: { shard: { template: { package: p, name: M:T }, find: [{ is: party }], value: list } }
                                                                ^ entries.shard.find[0].field: must be the name of a field, or a path as details.owner, but is missing
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: owner }], value: list } }
                                                                            ^ entries.shard.find[0].is: must be one of registrar, provider, instrument, sender, receiver, holder, party, but is "owner"
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party, prefix: 0 }], value: list } }
                                                                                       ^ entries.shard.find[0].prefix: must be an integer from 1 to 300, but is 0
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party, prefix: 1.5 }], value: list } }
                                                                                       ^ entries.shard.find[0].prefix: must be an integer from 1 to 300, but is 1.5
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: sender }, { field: b, is: receiver }], value: list } }
                                                         ^ entries.shard.find: must have at most one field that is a party of the request
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party }] } }
           ^ entries.shard.value: must be one of contract-id, list, map-by-party, but is missing
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: text } }
                                                                                          ^ entries.shard.value: must be one of contract-id, list, map-by-party, but is "text"
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: contract-id } }
                                                                                          ^ entries.shard.value: must be list or map-by-party, because a request may have several such parties
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: registrar }], value: map-by-party } }
                                                                                              ^ entries.shard.value: must be list or contract-id, because no field is a party of the request
entries: { shard: { template: { package: p, name: M:T }, find: [{ field: a, is: holder }, { field: b, is: instrument }], value: map-by-party } }
                                                                                                                         ^ entries.shard.value: must be list, because a request may have several instruments for a party
entries: { shard: { keys: both, template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: list } }
                    ^ entries.shard.keys: is not a known field; known fields: template, find, value
entries: { Shard: { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: list } }
           ^ entries.Shard: must be a name of lower-case letters, digits and hyphens that begins with a letter
entries: { "a\nb": { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: list } }
           ^ entries."a\nb": must be a name of lower-case letters, digits and hyphens that begins with a letter
entries: { transfer-rule: { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: list } }
           ^ entries.transfer-rule: must have another name: there is an entry or disclosure of this name already
entries: { locked-holding: { template: { package: p, name: M:T }, find: [{ field: a, is: party }], value: list } }
           ^ entries.locked-holding: must have another name: there is an entry or disclosure of this name already
entries: { shard: { template: { package: utility-registry-v0, name: Utility.Registry.V0.Rule.Transfer:TransferRule }, find: [{ field: a, is: party }], value: list } }
                    ^ entries.shard.template: must be a template that the registry does not read already: extend the registry with a module instead

changes: { rewards: true }
^ changes: must be a list, but is a map
changes: [rewards]
          ^ changes[0]: must be a map, but is "rewards"
changes: [{ operations: [settlement-factory] }]
          ^ changes[0]: must have add, remove, credentials, rewards or keys: it changes nothing
changes: [{ rewards: true, reward: true }]
                           ^ changes[0].reward: is not a known field; known fields: operations, when, add, remove, credentials, rewards, keys
changes: [{ operations: [settlement-factory, settlement], rewards: true }]
                                             ^ changes[0].operations[1]: must be an operation, but is "settlement"; operations: transfer-factory/offer, …
changes: [{ operations: [transfers/*], rewards: true }]
                         ^ changes[0].operations[0]: must be an operation, but is "transfers/*"; operations: transfer-factory/offer, …
changes: [{ operations: [allocation/*el], rewards: true }]
                         ^ changes[0].operations[0]: must be an operation, but is "allocation/*el"; operations: transfer-factory/offer, …
changes: [{ operations: [7], rewards: true }]
                         ^ changes[0].operations[0]: must be an operation, but is 7; operations: transfer-factory/offer, …
changes: [{ operations: [], rewards: true }]
            ^ changes[0].operations: must have at least one operation
changes: [{ add: [{ entry: transfer-rule, keys: [a] }, { entry: shard }] }]
                                                         ^ changes[0].add[1].entry: must be one of instrument-configuration, …
changes: [{ add: [{ disclosure: transfer-rule }] }]
                    ^ changes[0].add[0].disclosure: must be one of factory, locked-holding, allocations, allocation-holdings, but is "transfer-rule"
changes: [{ add: [{ required: true }] }]
                  ^ changes[0].add[0]: must have either an entry or a disclosure
changes: [{ add: [{ disclosure: factory, entry: transfer-rule }] }]
                  ^ changes[0].add[0]: must have either an entry or a disclosure
changes: [{ add: [{ entry: transfer-rule, keys: bare }] }]
                                          ^ changes[0].add[0].keys: must be prefixed, both, or a list of at least one key, but is "bare"
changes: [{ add: [{ entry: transfer-rule, keys: [] }] }]
                                          ^ changes[0].add[0].keys: must be prefixed, both, or a list of at least one key, but is an empty list
changes: [{ add: [{ entry: transfer-rule, keys: [a, a] }] }]
                                                    ^ changes[0].add[0].keys[1]: must be given once, but "a" is there twice
changes: [{ add: [{ entry: transfer-rule, keys: ["a\nb"] }] }]
                                                 ^ changes[0].add[0].keys[0]: must be 1 to 200 visible ASCII characters without spaces, but is "a\nb"
changes: [{ add: [{ entry: transfer-rule, keys: ["\ud800"] }] }]
                                                 ^ changes[0].add[0].keys[0]: must be 1 to 200 visible ASCII characters without spaces, but is "\ud800"
changes: [{ add: [{ entry: transfer-rule, keys: [a], required: "yes" }] }]
                                                     ^ changes[0].add[0].required: must be true or false, but is "yes"
changes: [{ add: [{ entry: transfer-rule, keys: [a], required: }] }]
                                                     ^ changes[0].add[0].required: must be true or false, but has no value
changes: [{ operations: [transfer-instruction/reject, allocation/cancel], add: [{ entry: transfer-rule, required: true }] }]
                                                                                                        ^ changes[0].add[0].required: must not be true: reject, withdraw and cancel never require a contract
changes: [{ operations: [settlement-factory], add: [{ entry: holder-credentials, keys: [a] }, { entry: transfer-rule }] }]
                                                                                              ^ changes[0].add[1]: must not add the key utility.digitalasset.com/transfer-rule to settlement-factory, which has it: remove that entry in this change
changes: [{ add: [{ entry: enable-result-contracts }] }]
                  ^ changes[0].add[0]: must not add the key utility.digitalasset.com/enable-result-contracts to transfer-factory/direct, which has it: remove that entry in this change
changes:
  - { operations: [settlement-factory], add: [{ entry: transfer-rule, keys: [a] }] }
  - { add: [{ entry: holder-credentials, keys: [a], when: checkBlocklist }] }
            ^ changes[1].add[0]: must not add the key a to settlement-factory, which has it: remove that entry in this change

changes: [{ rewards: true, when: checkblocklist }]
                           ^ changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but is "checkblocklist"
changes: [{ rewards: true, when: }]
                           ^ changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but has no value
changes: [{ rewards: true, when: [checkBlocklist] }]
                           ^ changes[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but is a list
changes: [{ rewards: true, when: { from: "0.7.0" } }]
                           ^ changes[0].when.package: must be a non-empty string, but is missing
changes: [{ rewards: true, when: { package: p } }]
                           ^ changes[0].when: must have from, before or both: a condition on a package is one on its version
changes: [{ rewards: true, when: { package: p, before: 0.7 } }]
                                               ^ changes[0].when.before: must be a version in quotes, as "0.7.0", but is 0.7
changes: [{ rewards: true, when: { package: p, from: "0.10.0", before: "0.9.0" } }]
                                                               ^ changes[0].when.before: must be a later version than from, which is 0.10.0, but is 0.9.0
changes: [{ rewards: true, when: { package: p, until: "1.0", before: "1.0" } }]
                                               ^ changes[0].when.until: is not a known field; known fields: package, from, before
changes: [{ when: checkBlocklist, add: [{ entry: transfer-rule, keys: [a], when: severalInstruments }] }]
                                                                           ^ changes[0].add[0].when: must be absent, because the change has a condition for all its lines
changes: [{ remove: [transfer-rule], when: checkBlocklist }]
                                     ^ changes[0].when: must be absent from a change that removes, switches off or has keys: it restricts only what is added
changes: [{ rewards: false, when: checkBlocklist }]
                            ^ changes[0].when: must be absent from a change that removes, switches off or has keys: it restricts only what is added

changes: [{ remove: [transfer-rule, transfer-rules] }]
                                    ^ changes[0].remove[1]: must be one of instrument-configuration, …
changes: [{ operations: [mint-offer/*], remove: [issuer-credentials, transfer-rule] }]
                                                                     ^ changes[0].remove[1]: must be a line of any of the operations of the change, but transfer-rule is not
changes: [{ credentials: always }]
            ^ changes[0].credentials: must be one of required, optional, but is "always"
changes: [{ operations: [allocation/cancel], credentials: required }]
                                             ^ changes[0].credentials: must be absent: there are no credentials in any of the operations of the change
changes:
  - credentials: required
  - { credentials: required, when: checkBlocklist }
      ^ changes[1].credentials: must be optional in an earlier change, because sender-credentials is required under another condition
changes: [{ rewards: "yes" }]
            ^ changes[0].rewards: must be true or false, but is "yes"
changes: [{ operations: [allocation/cancel], rewards: true }]
                                             ^ changes[0].rewards: must be absent: no reward entries are known for any of the operations of the change
`);

describe("a mistake is reported with its line and column", () => {
  test.each(mistakes)("%s", async (content, expected) => {
    const problems = await problemsOf(content);
    expect(problems.map((problem) => shortenedTo(expected, problem))).toEqual([expected]);
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

  test("without more than 99 others", async () => {
    const problems = await problemsOf(lines("changes:", ...Array.from({ length: 250 }, () => "  - {}")));
    expect(problems).toHaveLength(101);
    expect(problems[99]).toMatch(/^101:5: changes\[99\]: must have/);
    expect(problems[100]).toBe("and 150 more");
  });

  test.each(["LONG: 1", "changes: [{ remove: [LONG] }]", "changes: [{ operations: [LONG], rewards: true }]"])(
    "in a bounded message, however long a name is: %s",
    async (content) => {
      const [problem = ""] = await problemsOf(content.replace("LONG", "x".repeat(100_000)));
      expect(problem.length).toBeLessThan(2_000);
    },
  );

  test("also if the file cannot be read", async () => {
    const folder = await temporaryFolder();
    expect(await errorOf(join(folder, "none.yaml"))).toMatch(/^OFFLEDGER_CONTEXTS must be .*\nENOENT: .*none\.yaml/);
    expect(await errorOf(folder)).toMatch(/^OFFLEDGER_CONTEXTS must be .*\nEISDIR: /);
    expect(await errorOf("/dev/zero")).toContain("/dev/zero:1:1: the file must have at most 1048576 bytes");
  });
});

describe("a good file", () => {
  test.each([
    "",
    "# nothing yet\n",
    "packages:\nentries:\nchanges:\n  # - rewards: true\n",
    "packages: {}\nchanges: []",
  ])("%j changes nothing", async (content) => {
    expect((await loadText(content)).table).toEqual(builtIn.table);
  });

  test("may have a byte order mark and CRLF", async () => {
    const { table } = await load(await contextsFile("\uFEFFchanges:\r\n  - rewards: true\r\n"));
    expect(table["burn-mint-factory"].entries.map(({ entry: name }) => name)).toContain("featured-app-right");
  });

  test("has each part that a file may have", async () => {
    const { table, templates, packageVersions } = await loadText(
      'packages: { a1b2: "0.7.0" }',
      "entries:",
      "  shard:",
      '    template: { package: example-blocklist, name: "Example.Blocklist:Shard" }',
      "    find: [{ field: details.registrar, is: registrar }, { field: prefix, is: party, prefix: 2 }]",
      "    value: list",
      "changes:",
      "  - operations: [mint-offer/*]",
      '    when: &old { package: utility-registry-app-v0, before: "0.8.0" }',
      "    add: [{ entry: shard, keys: [shards], required: true }, { disclosure: shard }]",
      "    credentials: required",
      "  - operations: [mint-offer/accept]",
      "    remove: [enable-result-contracts]",
      "    rewards: true",
    );
    const old = { package: "utility-registry-app-v0", from: undefined, before: "0.8.0" };
    const line = { required: false, requiredWhen: undefined, when: undefined };
    const prefixed = (entry: string) => ({ ...line, entry, keys: [`utility.digitalasset.com/${entry}`] });
    expect(table["mint-offer/accept"]).toEqual({
      needsBlocklist: true,
      hasRewards: true,
      allowsMissing: false,
      entries: [
        { ...prefixed("instrument-configuration"), required: true },
        { ...prefixed("issuer-credentials"), required: true, requiredWhen: old },
        { ...line, entry: "shard", keys: ["shards"], required: true, when: old },
        prefixed("app-reward-configuration"),
        prefixed("featured-app-right"),
      ],
      disclosures: [
        { ...line, disclosure: "locked-holding", required: true },
        { ...line, disclosure: "shard", when: old },
      ],
    });
    // Exits never require a contract.
    expect(table["mint-offer/reject"].entries.at(-1)).toEqual({ ...line, entry: "shard", keys: ["shards"], when: old });
    expect(table["mint-request/accept"]).toEqual(builtIn.table["mint-request/accept"]);
    expect(templates.at(-1)).toMatchObject({
      packageName: "example-blocklist",
      qualifiedName: "Example.Blocklist:Shard",
    });
    expect(packageVersions.versionOf("a1b2")).toBe("0.7.0");
  });

  test("may give one key to different versions of a package", async () => {
    const key = "keys: [utility.digitalasset.com/transfer-rule]";
    const { table } = await loadText(
      "changes:",
      "  - operations: [settlement-factory]",
      "    remove: [transfer-rule]",
      "    add:",
      '      - { entry: transfer-rule, when: { package: p, before: "0.8.0" } }',
      `      - { entry: holder-credentials, ${key}, when: { package: p, from: "0.8.0" } }`,
      `      - { entry: instrument-configuration, ${key}, when: { package: q, from: "0.1" } }`,
    );
    expect(table["settlement-factory"].entries).toHaveLength(7);
  });

  test("may switch on what a change before it has switched off", async () => {
    const changes = [
      "{ rewards: true }",
      "{ rewards: false }",
      "{ credentials: required }",
      "{ credentials: optional }",
    ];
    expect((await loadText(`changes: [${changes.join(", ")}]`)).table).toEqual(builtIn.table);
  });
});
