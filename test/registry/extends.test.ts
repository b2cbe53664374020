/** One language: a file extends another one or the Registry Utility, lines may be for a kind of transfer, and `meta` counts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { configurationId, loadRegistry } from "../../src/app/registry.js";
import type { JsonObject } from "../../src/util/json.js";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { ask, asServed, type ShortContract, type TestRequest } from "../../src/testing/answer.js";
import { elementOf } from "../fixtures/contexts.js";
import { parties } from "../fixtures/elements.js";
import { tableOf } from "../fixtures/in-memory.js";
import { quiet } from "../fixtures/run-service.js";
import { complete } from "../rules/table.js";

const TEA = `
name: tea
package: tea-v1
module: Tea
templates:
  rules: { name: ":Rules", registrar: admin }
  approval: { name: ":Approval", registrar: admin }
  batch: { name: ":Batch", registrar: admin }
  offer: { name: ":Offer", registrar: admin, choices: transfer-instruction }
factory: { template: rules }
instruments: [LEAF]
direct: approval
entries:
  rules: { template: rules }
  approval: { template: approval, find: { receiver: receiver } }
  batch: { template: batch, find: { name: meta.tea.example/batch } }
operations:
  "*":
    - { entry: rules, key: rules }
  transfer-factory/direct:
    - { entry: approval, key: approval }
  transfer-factory/self:
    - { constant: { tag: AV_Text, value: self }, key: kind }
  transfer-factory:
    - { entry: batch, key: batch, missing: omit }
  "*/accept":
    - { entry: batch, key: batch, missing: omit }
`;

/** Writes files, and returns the path of the first. They exist until the test ends. */
function filesOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "offledger-extends-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return join(folder, Object.keys(files)[0] ?? "");
}
const load = (files: Readonly<Record<string, string>>): Promise<Registry> =>
  loadRegistry({ ...quiet(), registry: filesOf(files) });

const contract = (contractId: string, name: string, payload: JsonObject = {}): ShortContract => ({
  contractId,
  template: `Tea:${name}`,
  payload: { admin: "a::1", ...payload },
});
const contracts = [
  contract("rules", "Rules"),
  contract("approval", "Approval", { receiver: "bob::1" }),
  contract("batch", "Batch", { name: "7" }),
  contract("cup", "Cup"),
  contract("offer", "Offer", {
    transfer: { sender: "ann::1", receiver: "bob::1", instrumentId: { admin: "a::1", id: "LEAF" } },
  }),
];
const transfer = (receiver: string, meta: JsonObject = {}): TestRequest => ({
  operation: "transfer-factory",
  registrar: "a::1",
  choiceArguments: {
    transfer: { sender: "ann::1", receiver, instrumentId: { admin: "a::1", id: "LEAF" } },
    extraArgs: { meta },
  },
});
const accept = (meta?: JsonObject): TestRequest => ({
  operation: "transfer-instruction/accept",
  registrar: "a::1",
  contractId: "offer",
  meta,
});
const keysOf = async (registry: Registry, request: TestRequest): Promise<readonly string[]> => {
  const read = new Set(registry.templates.map(({ qualifiedName }) => qualifiedName));
  const known = contracts.filter(({ template = "" }) => read.has(template));
  const { choiceContext, ...answer } = await ask(registry, known, request);
  const { choiceContextData } = (choiceContext ?? answer) as { choiceContextData: { values: JsonObject } };
  return Object.keys(choiceContextData.values);
};

test("lines may be for a kind of transfer", async () => {
  const registry = await load({ "tea.yaml": TEA });
  expect(await keysOf(registry, transfer("bob::1"))).toEqual(["rules", "approval"]);
  expect(await keysOf(registry, transfer("ann::1"))).toEqual(["rules", "kind"]);
  expect(await keysOf(registry, transfer("eve::1"))).toEqual(["rules"]);
});

test.each<[string, JsonObject, boolean]>([
  ["as the standard's metadata", { values: { "tea.example/batch": "7" } }, true],
  ["by its key alone", { "tea.example/batch": "7" }, true],
  ["of another value", { values: { "tea.example/batch": "8" } }, false],
  ["that is no text", { "tea.example/batch": 7 }, false],
  ["of another key", { values: { "tea.example/lot": "7" } }, false],
])("an entry is found by the meta of the request: %s", async (_what, meta, isFound) => {
  const registry = await load({ "tea.yaml": TEA });
  for (const request of [transfer("eve::1", meta), accept(meta)])
    // oxlint-disable-next-line no-await-in-loop -- two
    expect(await keysOf(registry, request)).toEqual(isFound ? ["rules", "batch"] : ["rules"]);
});

test("a file extends another, by its path from there: the base plus its changes", async () => {
  const cups = `
extends: tea.yaml
package: tea-v1
module: Tea
templates: { cup: { name: ":Cup", registrar: admin } }
entries: { cup: { template: cup } }
changes:
  - { on: [transfer-factory], unless: self, remove: [rules], add: [{ entry: cup, key: cup }] }
  - { on: ["*/accept"], if: self, remove: [rules] }
`;
  const more = "extends: cups.yaml\nchanges: [{ on: [transfer-factory/offer], set: { entry: cup, key: mug } }]";
  const registry = await load({ "more.yaml": more, "cups.yaml": cups, "tea.yaml": TEA });
  expect(registry.name).toBe("tea");
  expect(await keysOf(registry, transfer("eve::1"))).toEqual(["mug"]);
  expect(await keysOf(registry, transfer("bob::1"))).toEqual(["approval", "cup"]);
  // The change is none for a transfer to oneself: what it removes stays.
  expect(await keysOf(registry, transfer("ann::1"))).toEqual(["rules", "kind"]);
  expect(await keysOf(registry, accept())).toEqual(["rules"]);
});

test("a token of the standard adds what its choices need, and names no template", async () => {
  const registry = await load({
    "gold.yaml": `
extends: standard
entries: { rules: { template: transferFactory } }
changes: [{ add: [{ entry: rules, key: gold/rules }] }]
`,
  });
  const factory = { admin: "a::1" };
  const instrumentId = { admin: "a::1", id: "GOLD" };
  const elements: ShortContract[] = [
    { contractId: "rules", views: { "transfer-factory/2": factory, "allocation-factory/2": factory } },
    {
      contractId: "offer",
      views: {
        "transfer-instruction/2": {
          transfer: { sender: { owner: "ann::1" }, receiver: { owner: "bob::1" }, instrumentId },
        },
      },
    },
  ];
  const value = { tag: "AV_ContractId", value: "rules" };
  const accepted = await ask(registry, elements, accept());
  expect(accepted).toMatchObject({ choiceContextData: { values: { "gold/rules": value } } });
  expect(accepted["disclosedContracts"]).toEqual([expect.objectContaining({ contractId: "rules" })]);
  expect(await ask(registry, elements, transfer("bob::1"))).toMatchObject({
    factoryId: "rules",
    choiceContext: { choiceContextData: { values: { "gold/rules": value } } },
  });
  expect(await ask(registry, elements, { operation: "instruments", registrar: "a::1" })).toMatchObject({
    instruments: [{ id: "GOLD", supportedApis: { "splice-api-token-allocation-instruction-v2": 1 } }],
  });
});

test("a token of the standard has its own name, versions, instruments, factory, and what makes a transfer direct", async () => {
  const registry = await load({
    "gold.yaml": `
extends: standard
name: gold
package: gold-v1
versions: [v1]
templates:
  issuer: { name: "Gold:Issuer", registrar: admin }
  approval: { name: "Gold:Approval", registrar: admin }
factory: { template: issuer }
instruments: { template: issuer, list: bars }
entries: { approval: { template: approval, find: { receiver: receiver } } }
direct: approval
`,
  });
  expect(registry.name).toBe("gold");
  const elements: ShortContract[] = [
    { contractId: "rules", views: { "transfer-factory/1": { admin: "a::1" } } },
    { contractId: "issuer", template: "Gold:Issuer", payload: { admin: "a::1", bars: ["LEAF"] } },
    { contractId: "approval", template: "Gold:Approval", payload: { admin: "a::1", receiver: "bob::1" } },
  ];
  expect(await ask(registry, elements, transfer("bob::1"))).toMatchObject({
    factoryId: "issuer",
    transferKind: "direct",
  });
  expect(await ask(registry, elements, { operation: "instruments", registrar: "a::1" })).toMatchObject({
    instruments: [{ id: "LEAF", supportedApis: { "splice-api-token-transfer-instruction-v1": 1 } }],
  });
});

test("a template replaces that of its name, another may be of an interface too", async () => {
  const registry = await load({
    "gold.yaml": `
extends: standard
templates:
  allocation: { implements: allocation/1 }
  second: { implements: allocation/2 }
entries: { second: { template: second, byId: allocations } }
changes: [{ on: [settlement-factory], add: [{ disclosure: second, missing: omit }] }]
`,
  });
  const allocation = { admin: "a::1", authorizer: { owner: "ann::1" }, transferLegSides: [] };
  const elements: ShortContract[] = [
    { contractId: "rules", views: { "settlement-factory/2": { admin: "a::1" } } },
    { contractId: "allocation", views: { "allocation/2": { allocation, holdingCids: [] } } },
  ];
  const settled = await ask(registry, elements, {
    operation: "settlement-factory",
    registrar: "a::1",
    choiceArguments: {
      transferLegs: [{ sender: { owner: "ann::1" }, receiver: { owner: "bob::1" }, instrumentId: "LEAF" }],
      allocations: [{ allocationCid: "allocation" }],
    },
  });
  const { disclosedContracts } = settled["choiceContext"] as { disclosedContracts: { contractId: string }[] };
  expect(disclosedContracts.map(({ contractId }) => contractId)).toEqual(["allocation", "rules"]);
});

test("where the instruments file names instruments, others are refused", async () => {
  const registry = asServed(tableRegistry(tableOf("standard.yaml"), new Map([["a::1", ["GOLD"]]])));
  const rules: ShortContract = { contractId: "rules", views: { "transfer-factory/1": { admin: "a::1" } } };
  await expect(ask(registry, [rules], transfer("bob::1"))).rejects.toMatchObject({ code: "instrument-unknown" });
  expect(await ask(registry, [rules], { operation: "instruments", registrar: "a::1" })).toMatchObject({
    instruments: [{ id: "GOLD" }],
  });
});

test("a registry file extends the Registry Utility, and a contexts file applies to it", async () => {
  const registry = filesOf({
    "acme.yaml": `
extends: utility
templates: { audit: { package: acme, name: "Acme:Audit" } }
entries: { audit: { template: audit, find: { registrar: registrar } } }
changes: [{ on: [transfer-factory/offer], remove: ["*"], add: [{ entry: audit }] }]
`,
    "contexts.yaml": "changes: [{ on: [transfer-factory/offer], set: { entry: audit, key: ['*'] } }]",
  });
  const { registrar } = parties;
  const transferred = { sender: "alice", receiver: "bob", instrumentId: { admin: registrar, id: "USD" } };
  const request: TestRequest = {
    operation: "transfer-factory",
    registrar,
    choiceArguments: { transfer: transferred },
  };
  const elements = [...complete(), elementOf("acme#Acme:Audit", "audit", { registrar })];
  const valuesOf = async (contexts?: string) => {
    const { choiceContext } = await ask(await loadRegistry({ ...quiet(), registry, contexts }), elements, request);
    return (choiceContext as { choiceContextData: { values: JsonObject } }).choiceContextData.values;
  };
  const value = { tag: "AV_ContractId", value: "audit" };
  expect(await valuesOf()).toEqual({ "utility.digitalasset.com/audit": value });
  expect(await valuesOf(registry.replace("acme.yaml", "contexts.yaml"))).toEqual({ audit: value });
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ["itself", { "a.yaml": "extends: b.yaml", "b.yaml": "extends: a.yaml" }, "a file must not extend itself"],
  ["no file", { "a.yaml": "extends: none.yaml" }, "ENOENT"],
  [
    "a wrong file",
    { "a.yaml": "extends: b.yaml", "b.yaml": "name: b" },
    "b.yaml:1:1: templates: must be a map, but is missing",
  ],
  [
    "one, with a mistake of its own",
    { "a.yaml": "extends: b.yaml\nchanges: [{ remove: [cup] }]", "b.yaml": TEA },
    'a.yaml:2:22: changes[0].remove[0]: must be that of a line of any of the operations of the change: "cup" is not',
  ],
  [
    "one, with a factory and instruments of no template, and a direct transfer by no entry",
    { "a.yaml": "extends: standard\nfactory: { template: a }\ninstruments: { template: b, id: c }\ndirect: d" },
    ["2:12: factory.template: template a", "3:16: instruments.template: template b", "4:1: direct: entry d"]
      .map((start) => `a.yaml:${start} is not defined here`)
      .join(".*\\n.*"),
  ],
  [
    "one, and reads by id what that stores",
    {
      "a.yaml": "extends: standard\ntemplates: { allocationFactory: { implements: allocation-factory, read: by-id } }",
    },
    "a.yaml:2:67: templates.allocationFactory.read: must be absent: what is extended stores these contracts",
  ],
  [
    "the Registry Utility, with a factory",
    { "a.yaml": "extends: utility\nfactory: { template: factory }" },
    "a.yaml:2:1: factory: is not a known field",
  ],
  [
    "one, and names an operation that is not served",
    { "a.yaml": "extends: b.yaml\nchanges: [{ on: [mint-offer], remove: [rules] }]", "b.yaml": TEA },
    "a.yaml:2:18: changes[0].on[0]: must be an operation of this registry",
  ],
])("refused is a file that extends %s", async (_what, files, expected) => {
  await expect(load(files)).rejects.toThrow(new RegExp(expected.replaceAll("[", "\\[")));
});

test("answers depend on the file that a file extends", async () => {
  const idOf = (tea: string) =>
    configurationId({ ...quiet(), registry: filesOf({ "a.yaml": "extends: tea.yaml", "tea.yaml": tea }) }, new Map());
  expect(await idOf(TEA)).not.toBe(await idOf(TEA.replace("key: rules", "key: other")));
});
