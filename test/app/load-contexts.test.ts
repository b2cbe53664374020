/** The operator's contexts file: each mistake names its line and column, and nothing is used of a file that has one. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadContexts } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import type { TableOperation } from "../../src/registry/operation-names.js";
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
^ change: is not a known field; known fields: extends, package, module, packages, templates, entries, changes
__proto__: {}
^ "__proto__" must not be a key
changes: [{ remove: [a], remove: [b] }]
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

templates: { doc: { name: M:T } }
             ^ templates.doc: must have a package: the file has none for its templates
templates: { doc: { package: p, name: M:T, id: x } }
                                           ^ templates.doc.id: is not a known field; known fields: name, implement…
templates: { rule: { package: p, name: M:T } }
             ^ templates.rule: must have another name: there is a template of this name already
templates: { doc: { package: utility-registry-v0, name: Utility.Registry.V0.Rule.Transfer:TransferRule } }
             ^ templates.doc: must be a template that the registry does not read already
templates: { doc: { package: utility-credential-v0, name: Utility.Credential.V0.Credential:Credential } }
             ^ templates.doc: must be a template that the registry does not read already

entries: [shard]
^ entries: must be a map, but is a list
entries:
  shard:
  ^ entries.shard: must be a map, but has no value
entries: { shard: {} }
           ^ entries.shard: must have a template or a function
entries: { shard: { template: doc } }
                    ^ entries.shard.template: template doc is not defined here
entries: { shard: { template: rule } }
                    ^ entries.shard.template: template rule is not defined here
entries: { shard: { function: sender-credentials } }
                    ^ entries.shard.function: function sender-credentials is not defined here: there are configuration, …
entries: { shard: { function: credentials, with: { of: owner, requirements: holder } } }
                                                   ^ entries.shard.with.of: must be one of sender, receiver, holder, accounts, but is "owner"
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: [a] } }
                                   ^ entries.shard.find: must be a map, but is a list
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: registrar }, byId: locked } }
           ^ entries.shard: must have find or byId, not both
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a..b: party }, value: list } }
                                           ^ entries.shard.find.a..b: must be a path such as transfer.sender, …
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: owner } } }
                                           ^ entries.shard.find.a: must be a value of the request, but is "owner": there are registrar, …
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: "start(party, 0)" }, value: list } }
                                           ^ entries.shard.find.a: must be a value of the request, but is "start(party, 0)": there are registrar, …
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: "start(party, 301)" }, value: list } }
                                           ^ entries.shard.find.a: must be a value of the request, but is "start(party, 301)": there are registrar, …
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: sender, b: receiver } } }
                                   ^ entries.shard.find: must have at most one field that is a party of the request
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: party }, value: text } }
                                                       ^ entries.shard.value: must be one of contract-id, list, map, but is "text"
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: party }, value: contract-id } }
                                                       ^ entries.shard.value: must be list or map, because a request may have several such parties
templates: { doc: { package: p, name: M:T } }
entries: { shard: { template: doc, find: { a: holder, b: instrument }, value: map } }
                                                                       ^ entries.shard.value: must be list, because a request may have several instruments for a party
templates: { doc: { package: p, name: M:T } }
entries: { 7shard: { template: doc } }
           ^ entries.7shard: must be a name of letters, digits, - and _ that begins with a letter, but is "7shard"
templates: { doc: { package: p, name: M:T } }
entries: { "a\nb": { template: doc } }
           ^ entries."a\nb": must be a name of letters, digits, - and _ that begins with a letter, but is "a\nb"
templates: { doc: { package: p, name: M:T } }
entries: { transfer-rule: { template: doc } }
           ^ entries.transfer-rule: must have another name: there is an entry of this name already
templates: { doc: { package: p, name: M:T } }
entries: { configured: { template: doc } }
           ^ entries.configured: must have another name: this one is a value or a condition of every request

changes: { remove: [factory] }
^ changes: must be a list, but is a map
changes: [rewards]
          ^ changes[0]: must be a map, but is "rewards"
changes: [{ on: [settlement-factory] }]
          ^ changes[0]: must have add, remove or set: it changes nothing
changes: [{ set: { entry: transfer-rule } }]
          ^ changes[0]: must have add, remove or set: it changes nothing
changes: [{ remove: [factory], delete: true }]
                               ^ changes[0].delete: is not a known field; known fields: on, if, unless, remove, add, set
changes: [{ remove: [factory], on: [settlement-factory, settlement] }]
                                                        ^ changes[0].on[1]: must be an operation, but is "settlement"; operations: transfer-factory/offer, …
changes: [{ remove: [factory], on: [transfers/*] }]
                                    ^ changes[0].on[0]: must be an operation, but is "transfers/*"; operations: transfer-factory/offer, …
changes: [{ remove: [factory], on: [7] }]
                                    ^ changes[0].on[0]: must be an operation, but is 7; operations: transfer-factory/offer, …
changes: [{ remove: [factory], on: [] }]
                               ^ changes[0].on: must have at least one operation
changes: [{ add: [{ entry: transfer-rule, key: a }, { entry: shard }] }]
                                                      ^ changes[0].add[1].entry: entry shard is not defined here: there are service, …
changes: [{ add: [{ disclosure: sender-credentials }] }]
                    ^ changes[0].add[0].disclosure: must be an entry that can be so, but sender-credentials can be entry
changes: [{ add: [{ entry: locked-holding }] }]
                    ^ changes[0].add[0].entry: must be an entry that can be so, but locked-holding can be disclosure
changes: [{ add: [{ missing: omit }] }]
                  ^ changes[0].add[0]: must have one of entry, disclosure, …
changes: [{ add: [{ disclosure: factory, entry: transfer-rule }] }]
                  ^ changes[0].add[0]: must have one of entry, disclosure, …
changes: [{ add: [{ include: transfer-factory/offer }] }]
                    ^ changes[0].add[0].include: must be absent: a change adds lines of its own
changes: [{ add: [{ exists: transfer-rule }] }]
                  ^ changes[0].add[0]: must have a key
changes: [{ add: [{ disclosure: transfer-rule, key: a }] }]
                  ^ changes[0].add[0]: must have no key: disclosure writes none
changes: [{ add: [{ exists: transfer-rule, key: a, missing: omit }] }]
                                                   ^ changes[0].add[0].missing: must be absent: it is of entry and disclosure, and this is exists
changes: [{ add: [{ entry: transfer-rule, key: [] }] }]
                                          ^ changes[0].add[0].key: must be a key, or a list of keys, but is an empty list
changes: [{ add: [{ entry: transfer-rule, key: [a, a] }] }]
                                                   ^ changes[0].add[0].key[1]: must be given once, but "a" is there twice
changes: [{ add: [{ entry: transfer-rule, key: "a\nb" }] }]
                                          ^ changes[0].add[0].key: must be 1 to 200 visible ASCII characters without spaces, but is "a\nb"
changes: [{ add: [{ entry: transfer-rule, key: ["\ud800"] }] }]
                                                ^ changes[0].add[0].key[0]: must be 1 to 200 visible ASCII characters without spaces, but is "\ud800"
changes: [{ add: [{ entry: transfer-rule, key: a, missing: "yes" }] }]
                                                  ^ changes[0].add[0].missing: must be one of refuse, omit, allow, but is "yes"
changes: [{ add: [{ entry: transfer-rule, key: a, missing: }] }]
                                                  ^ changes[0].add[0].missing: must be one of refuse, omit, allow, but has no value
changes: [{ on: ["*/reject", allocation/cancel], add: [{ entry: transfer-rule, missing: refuse }] }]
                                                                               ^ changes[0].add[0].missing: must not be refuse: reject, withdraw and cancel must be possible without it
changes: [{ add: [{ disclosure: transfer-rule, missing: refuse }] }]
                                               ^ changes[0].add[0].missing: must not be refuse: reject, withdraw and cancel must be possible without it
changes: [{ set: { entry: locked-holding, missing: refuse } }]
                                          ^ changes[0].set.missing: must not be refuse for locked-holding of transfer-instruction/reject: reject, withdraw and cancel must be possible without it…
changes: [{ set: { entry: audit, missing: refuse } }]
                   ^ changes[0].set.entry: must be that of a line of any of the operations of the change: "audit" is not
changes: [{ on: [settlement-factory], add: [{ entry: holder-credentials, key: a }, { entry: transfer-rule }] }]
                                                                                   ^ changes[0].add[1]: must not add the key utility.digitalasset.com/transfer-rule to settlement-factory, which has it: remove that entry in this change
changes: [{ on: ["*/accept"], add: [{ entry: enable-result-contracts }] }]
                                    ^ changes[0].add[0]: must not add the key utility.digitalasset.com/enable-result-contracts to transfer-instruction/accept, which has it: …
changes:
  - { on: [settlement-factory], add: [{ entry: transfer-rule, key: a }] }
  - { on: [settlement-factory], add: [{ entry: holder-credentials, key: a, if: check-blocklist }] }
                                      ^ changes[1].add[0]: must not add the key a to settlement-factory, which has it: remove that entry in this change

changes: [{ remove: [factory], if: checkblocklist }]
                               ^ changes[0].if: must be self, several-instruments, check-blocklist, configured, …
changes: [{ remove: [factory], if: sender-credentials }]
                               ^ changes[0].if: must be self, several-instruments, check-blocklist, configured, …
changes: [{ remove: [factory], if: }]
                               ^ changes[0].if: must be a name, or a map with a package, but has no value
changes: [{ remove: [factory], unless: [] }]
                               ^ changes[0].unless: must be a name, a map with a package, or a list of these, but is an empty list
changes: [{ remove: [factory], if: { from: "0.7.0" } }]
                               ^ changes[0].if.package: must be a non-empty string, but is missing
changes: [{ remove: [factory], if: { package: p } }]
                               ^ changes[0].if: must have from, before or both: a condition on a package is one on its version
changes: [{ remove: [factory], if: { package: p, before: 0.7 } }]
                                                 ^ changes[0].if.before: must be a version in quotes, as "0.7.0", but is 0.7
changes: [{ remove: [factory], if: { package: p, from: "0.10.0", before: "0.9.0" } }]
                                                                 ^ changes[0].if.before: must be a later version than from, which is 0.10.0, but is 0.9.0
changes: [{ remove: [factory], if: { package: p, until: "1.0", before: "1.0" } }]
                                                 ^ changes[0].if.until: is not a known field; known fields: package, from, before

changes: [{ remove: [transfer-rule, transfer-rules] }]
                                    ^ changes[0].remove[1]: must be that of a line of any of the operations of the change: "transfer-rules" is not
changes: [{ on: [mint-offer/*], remove: [issuer-credentials, transfer-rule] }]
                                                             ^ changes[0].remove[1]: must be that of a line of any of the operations of the change: "transfer-rule" is not
`);

describe("a mistake is reported with its line and column", () => {
  test.each(mistakes)("%s", async (content, expected) => {
    const problems = await problemsOf(content);
    expect(problems.map((problem) => shortenedTo(expected, problem))).toEqual([expected]);
  });

  test("together with all others, by line", async () => {
    const content = lines(
      "changes:",
      "  - delete: never",
      "    on: [settlement]",
      "    remove: 1",
      "packages: { a: 1 }",
      "entries:",
      "  7shard: { template: doc }",
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

  test.each(["LONG: 1", "changes: [{ remove: [LONG] }]", "changes: [{ on: [LONG], remove: [factory] }]"])(
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

const linesOf = ({ table }: UtilityContexts, operation: TableOperation) => table.rows[operation]?.lines ?? [];

describe("a good file", () => {
  test.each([
    "",
    "# nothing yet\n",
    "packages:\ntemplates:\nentries:\nchanges:\n  # - remove: [factory]\n",
    "packages: {}\nchanges: []",
  ])("%j changes nothing", async (content) => {
    expect((await loadText(content)).table.rows).toEqual(builtIn.table.rows);
  });

  test("may have a byte order mark and CRLF", async () => {
    const loaded = await load(await contextsFile("\uFEFFchanges:\r\n  - remove: [issuer-credentials]\r\n"));
    expect(linesOf(loaded, "burn-mint-factory").map(({ name }) => name)).not.toContain("issuer-credentials");
  });

  test("has each part that a file may have", async () => {
    const loaded = await loadText(
      'packages: { a1b2: "0.7.0" }',
      'templates: { doc: { package: example-blocklist, name: "Example.Blocklist:Shard" } }',
      "entries:",
      '  shard: { template: doc, find: { details.registrar: registrar, prefix: "start(party, 2)" }, value: list }',
      "changes:",
      "  - on: [mint-offer]",
      '    if: &old { package: utility-registry-app-v0, before: "0.8.0" }',
      "    add: [{ entry: shard, key: shards }, { disclosure: shard, missing: allow }]",
      "    set: { entry: '*-credentials', missing: refuse }",
      "  - on: [mint-offer/accept]",
      "    remove: [enable-result-contracts]",
    );
    const old = { package: "utility-registry-app-v0", before: "0.8.0" };
    const always = { if: [], unless: [], hasOwnKeys: false };
    const prefixed = (name: string) => ({
      ...always,
      kind: "entry",
      name,
      keys: [`utility.digitalasset.com/${name}`],
      missing: "refuse",
    });
    const shards = { ...prefixed("shard"), keys: ["shards"], hasOwnKeys: true, if: [old] };
    const disclosed = { ...always, kind: "disclosure", keys: [], missing: "refuse" };
    expect(linesOf(loaded, "mint-offer/accept")).toEqual([
      prefixed("instrument-configuration"),
      // What a condition changes stays as it was for the others.
      { ...prefixed("issuer-credentials"), if: [old] },
      { ...prefixed("issuer-credentials"), unless: [old], missing: "omit" },
      shards,
      { ...disclosed, name: "locked-holding" },
      { ...disclosed, kind: "require", name: "no-blocklist" },
      { ...disclosed, name: "shard", if: [old], missing: "allow" },
    ]);
    // Those who leave are not refused.
    expect(linesOf(loaded, "mint-offer/reject")[1]).toEqual({ ...shards, missing: "omit" });
    expect(linesOf(loaded, "mint-request/accept")).toEqual(linesOf(builtIn, "mint-request/accept"));
    expect(loaded.templates.at(-1)).toMatchObject({
      packageName: "example-blocklist",
      qualifiedName: "Example.Blocklist:Shard",
    });
    expect(loaded.packageVersions.versionOf("a1b2")).toBe("0.7.0");
  });

  test("may give one key to different versions of a package, and to those who meet a condition and the others", async () => {
    const key = "key: utility.digitalasset.com/transfer-rule";
    const loaded = await loadText(
      "changes:",
      "  - on: [settlement-factory]",
      "    remove: [transfer-rule]",
      "    add:",
      '      - { entry: transfer-rule, if: { package: p, from: "0.7.0", before: "0.8.0" } }',
      `      - { entry: holder-credentials, ${key}, if: [{ package: p, from: "0.8.0" }, configured] }`,
      `      - { entry: transfer-rule, if: { package: p, from: "0.8.0" }, unless: configured }`,
      `      - { entry: instrument-configuration, ${key}, if: { package: q, from: "0.1" } }`,
      `      - { entry: instrument-configuration, ${key}, if: { package: p, before: "0.7.0" } }`,
    );
    expect(linesOf(loaded, "settlement-factory").filter(({ keys }) => key.endsWith(` ${keys[0]}`))).toHaveLength(5);
  });

  test("changes an operation once, and leaves a line to those who do not meet all conditions of a change", async () => {
    const [some, all] = ["[configured, check-blocklist]", "[several-instruments, { package: p, from: '1' }]"];
    const loaded = await loadText(
      `changes: [{ on: [mint-offer/reject, mint-offer/*], if: ${some}, unless: ${all}, remove: [enable-result-contracts] }]`,
    );
    const [several, version] = ["several-instruments", { package: "p", from: "1" }];
    expect(linesOf(loaded, "mint-offer/reject").filter(({ name }) => name === "enable-result-contracts")).toMatchObject(
      [
        { if: [], unless: ["configured"] },
        { if: ["configured"], unless: ["check-blocklist"] },
        { if: ["configured", "check-blocklist", several], unless: [] },
        { if: ["configured", "check-blocklist", version], unless: [several] },
      ],
    );
  });

  test("may undo what a change before it has done", async () => {
    const file = [
      '{ set: { entry: "*-credentials", missing: refuse } }',
      '{ set: { entry: "*-credentials", missing: omit } }',
      '{ set: { key: ["utility.digitalasset.com/*", "*"] } }',
      '{ set: { key: "utility.digitalasset.com/*" } }',
    ];
    expect((await loadText(`changes: [${file.join(", ")}]`)).table.rows).toEqual(builtIn.table.rows);
  });
});
