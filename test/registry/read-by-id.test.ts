/** A table whose template has `read: by-id`: its contracts are those that the ledger tells when an answer names them. */
import { describe, expect, test } from "vitest";
import { isStored, type StoredContract } from "../../src/domain/contract.js";
import type { OnLedger } from "../../src/domain/ledger.js";
import { checkedRegistry } from "../../src/registry/checked-registry.js";
import { scanInventory } from "../../src/registry/check/scan.js";
import { parseRegistryFile } from "../../src/registry/engine/file.js";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import type { Choice, ContextResult, OperationRequest } from "../../src/registry/sdk/registry.js";
import { QueryExecutor } from "../../src/service/executor.js";
import { Recording } from "../../src/service/recorder.js";
import type { JsonObject } from "../../src/util/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { parties } from "../fixtures/elements.js";
import { allocationV1, transferV1 } from "../fixtures/requests.js";
import { elementOf } from "../fixtures/contexts.js";
import { storeOf, tableOf } from "../fixtures/in-memory.js";

const file = (lines: string): string => `
name: coffee token
package: coffee
templates:
  rules: { name: "Coffee:Rules", registrar: admin }
  offer: { name: "Coffee:Offer", registrar: admin, choices: transfer-instruction, refs: { held: "held.*" } }
  holding: { name: "Coffee:Holding", registrar: admin, read: by-id }
factory: { template: rules }
instruments: [BEAN]
entries:
  held: { template: holding, byId: held, value: list }
operations:
  transfer-instruction/*: [${lines}]
`;

const admin = "admin::1";
const element = (name: string, id: string, payload: JsonObject): JsonObject =>
  elementOf(`coffee#Coffee:${name}`, id, payload);

/** What the ledger tells of a holding. */
function holding(
  contractId: string,
  { of = admin, ...more }: { of?: string; synchronizerId?: string } = {},
): StoredContract {
  const { templates } = tableRegistry(tableOf(file("")));
  const decoder = new Decoder(templates, { keepsOptional: true });
  const contract = decoder.decode(element("Holding", contractId, { admin: of }));
  if (contract === undefined || !isStored(contract)) throw new Error("it is not stored");
  return { ...contract, ...more };
}

type Told = Readonly<Record<string, OnLedger>>;

/** An offer that names holdings, with what the ledger tells of them. */
async function offered(lines: string, told: Told) {
  const registry = checkedRegistry(tableRegistry(tableOf(file(lines))));
  const elements = [
    element("Rules", "rules", { admin }),
    element("Offer", "offer", { admin, held: Object.keys(told) }),
  ];
  const store = await storeOf(elements, registry);
  const known = Object.entries(told);
  // The templates of a registry are its own.
  const [, , template] = registry.templates;
  const own = known.map(([id, one]): [string, OnLedger] => [
    id,
    typeof one === "object" && template !== undefined ? { ...one, template } : one,
  ]);
  const source = {
    contracts: (ids: readonly string[]) => Promise.resolve(new Map(own.filter(([id]) => ids.includes(id)))),
  };
  const executor = new QueryExecutor(registry, store, { staleReason: () => undefined }, () => 0, undefined, source);
  return { registry, store, executor };
}

async function answerTo(
  lines: string,
  told: Told,
  choice: Choice = "transfer-instruction/accept",
  recording?: Recording,
) {
  const { executor } = await offered(lines, told);
  const query = { registrar: admin, contractId: "offer" };
  try {
    const { value } = await executor.execute<ContextResult>(
      (registry, context) => registry.choiceContext(context, choice, query),
      recording,
      { operation: choice, query },
    );
    return { disclosed: value.disclosed.map(({ contractId }) => contractId), values: value.values };
  } catch (error) {
    return error;
  }
}

const disclosure = "{ disclosure: held, missing: omit }";
const [a, other] = [holding("a"), holding("other", { of: "other::1" })];
const elsewhere = holding("elsewhere", { synchronizerId: "elsewhere::1220" });

describe("contracts that are read by id", () => {
  test("are those that are active and of the registrar, on the synchronizer of the answer", async () => {
    expect(await answerTo(disclosure, { a, gone: "archived", other, elsewhere })).toMatchObject({ disclosed: ["a"] });
  });

  test.each<[string, string, Told, object]>([
    [
      "archived",
      "{ disclosure: held }",
      { gone: "archived" },
      { reason: "not-found", details: { code: "contract-missing" } },
    ],
    ["of another registrar", "{ disclosure: held }", { other }, { reason: "not-found" }],
    ["created elsewhere", "{ disclosure: held }", { elsewhere }, { reason: "conflict" }],
    [
      "not told",
      "{ disclosure: held }",
      { slow: "unread" },
      { reason: "unavailable", details: { code: "holding-unread" } },
    ],
    [
      "not told, for an entry",
      "{ entry: held, key: held, missing: omit }",
      { slow: "unread" },
      { reason: "unavailable" },
    ],
    [
      "not told, where their absence is a value",
      "{ archived: held, key: gone }",
      { slow: "unread" },
      { reason: "unavailable" },
    ],
    [
      "not told, where their presence is one",
      "{ exists: held, key: there }",
      { slow: "unread" },
      { reason: "unavailable" },
    ],
  ])("that are %s refuse what needs them", async (_what, line, told, refusal) => {
    expect(await answerTo(line, told)).toMatchObject(refusal);
  });

  test.each([
    ["accept, whose line allows it", "{ disclosure: held, missing: allow }", "transfer-instruction/accept"],
    ["reject", disclosure, "transfer-instruction/reject"],
    ["withdraw", "{ entry: held, key: held, missing: omit }", "transfer-instruction/withdraw"],
  ] as const)("that are not told are left out of %s, and the explanation says so", async (_what, line, choice) => {
    const recording = new Recording(true);
    expect(await answerTo(line, { a, slow: "unread" }, choice, recording)).toMatchObject({ disclosed: ["a"] });
    expect(recording.last?.explanation?.notes).toEqual([
      expect.stringMatching(/has not told .*slow.* in time: it is left out/),
    ]);
  });
});

/** The offer names holdings and a box that is stored, which names others. */
const boxed = `
name: coffee token
package: coffee
templates:
  rules: { name: "Coffee:Rules", registrar: admin }
  offer:
    { name: "Coffee:Offer", registrar: admin, choices: transfer-instruction, refs: { held: "held.*", box: box, of: of } }
  box: { name: "Coffee:Box", registrar: admin, refs: { holdings: "holdings.*" } }
  holding: { name: "Coffee:Holding", registrar: admin, read: by-id, roles: { owner: owner } }
  seal: { name: "Coffee:Seal", registrar: admin }
factory: { template: rules }
instruments: [BEAN]
entries:
  held: { template: holding, byId: held, value: list }
  box: { template: box, byId: box }
  inBox: { template: holding, byId: box.holdings, value: list }
  ofOne: { template: holding, byId: of }
  seal: { template: seal, find: { owner: ofOne.owner }, value: list }
  inputs: { template: holding, byId: holdings, value: list }
direct: inputs
operations:
  transfer-instruction/accept: [{ entry: held, key: held }, { entry: inBox, key: inBox }]
  transfer-instruction/reject: [{ entry: box, key: box, if: held }]
  transfer-instruction/withdraw: [{ entry: seal, key: seal, missing: omit }]
  allocation-factory: [{ entry: inputs, key: inputs }]
`;

test.each<[string, OperationRequest["operation"], readonly string[]]>([
  ["of its lines, each once, and those that stored contracts name", "transfer-instruction/accept", ["a", "b", "c"]],
  ["of the conditions of its lines", "transfer-instruction/reject", ["a", "b"]],
  ["that lead to what its lines have", "transfer-instruction/withdraw", ["d"]],
  ["of the request for a factory", "allocation-factory", ["e"]],
  ["that decide what kind a transfer is", "transfer-factory", ["e"]],
  ["of no line: none", "settlement-factory", []],
  ["of no instruction that is known: none", "allocation/withdraw", []],
])("an operation reads those %s", async (_what, operation, ids) => {
  const registry = tableRegistry(tableOf(boxed));
  const store = await storeOf(
    [
      element("Offer", "offer", { admin, held: ["a", "b"], box: "box", of: "d" }),
      element("Box", "box", { admin, holdings: ["b", "c"] }),
    ],
    registry,
  );
  const { transfer } = transferV1("alice", "bob", { inputHoldingCids: ["e"] })["choiceArguments"] as JsonObject;
  const allocation = allocationV1("alice", "bob")["choiceArguments"] as JsonObject;
  const choiceArguments = { ...allocation, transfer, inputHoldingCids: ["e"] };
  const query = { registrar: parties.registrar, contractId: "offer", choiceArguments };
  // With what any operation asks.
  const request = { operation, query } as OperationRequest;
  expect(store.read((view) => registry.readById?.contractIds(view, request))).toEqual(ids);
});

test.each([
  ["found by values", (text: string) => text.replace("byId: box }", "find: { owner: sender } }"), "entries.inBox.byId"],
  [
    "read by id too",
    (text: string) =>
      text
        .replace("read: by-id,", "read: by-id, refs: { next: next },")
        .replace("byId: held, value: list", "byId: ofOne.next, value: list"),
    "entries.held.byId",
  ],
])("what is read by id is not named by what is %s", (_what, change, path) => {
  expect(parseRegistryFile(boxed).problems).toBeUndefined();
  const { problems } = parseRegistryFile(change(boxed));
  expect(problems).toEqual([expect.stringContaining(`: ${path}: must be a reference of the request, or of an entry`)]);
});

test("a check does not know them, and does not warn of them", async () => {
  const { store, registry } = await offered("{ disclosure: held }", { a, gone: "archived" });
  const { warnings } = await scanInventory(store, registry, { now: () => 0, credentialDays: 30 });
  expect(warnings).toEqual([]);
});

test.each<[string, (text: string) => string, string]>([
  [
    "a factory",
    (text) => text.replace("factory: { template: rules }", "factory: { template: holding }"),
    "factory.template",
  ],
  ["instruments", (text) => text.replace("[BEAN]", "{ template: holding, id: id }"), "instruments.template"],
  ["an entry without byId", (text) => text.replace("byId: held, value: list", "value: list"), "entries.held.template"],
  ["choices", (text) => text.replace("read: by-id", "read: by-id, choices: allocation"), "templates.holding.read"],
  ["keep", (text) => text.replace("read: by-id", "read: by-id, keep: lock"), "templates.holding.read"],
])("%s of what is not stored is a mistake", (_what, change, path) => {
  const text = file(disclosure);
  expect(parseRegistryFile(text).problems).toBeUndefined();
  const { problems } = parseRegistryFile(change(text));
  expect(problems).toEqual([expect.stringContaining(`: ${path}: must`)]);
});
