/** What `offledger check` warns of where the registry is a file, and what operators look up in it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { unreadableTemplate } from "../../src/domain/template.js";
import { parseRegistryFile } from "../../src/registry/engine/definition.js";
import { backgroundContext } from "../../src/registry/recorder.js";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import type { Recorder, Registry, Search, Warning } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";

const { file } = parseRegistryFile(readFileSync("registries/amulet.yaml"));
if (file === undefined) throw new Error("registries/amulet.yaml has mistakes");
const amulet = file;
const registry = tableRegistry(file);
const dso = "dso::1220";
const instrumentId = { admin: dso, id: "Amulet" };

/** A contract of the template with this name. */
function contract(
  contractId: string,
  name: string,
  payload: JsonObject,
  synchronizerId: string | undefined = "global",
  of: Registry = registry,
): Contract {
  const template = of.templates.find(({ qualifiedName }) => qualifiedName.endsWith(`:${name}`));
  const parsed = template?.parse(payload);
  if (template === undefined || parsed === undefined) throw new Error(`${name} is not stored`);
  return {
    contractId,
    template,
    templateId: `package:${template.qualifiedName}`,
    payload: JSON.stringify(payload),
    ...parsed,
    createdEventBlob: "",
    createdAt: "2026-01-01T00:00:00Z",
    createdMicros: 0,
    synchronizerId,
    reassignmentCounter: 0,
    supply: undefined,
    slots: undefined,
  };
}

const rules = contract("rules", "ExternalPartyAmuletRules", { dso });
const amuletRules = contract("amulet-rules", "AmuletRules", { dso });
const round = { dso, opensAt: "2026-01-01T00:00:00Z", round: { number: "1" } };
const openRound = contract("round", "OpenMiningRound", round);
const lockedAmulet = contract("locked", "LockedAmulet", { amulet: { dso } });
const transfer = { sender: "alice::1", receiver: "bob::1", instrumentId };
const offer = contract("offer", "AmuletTransferInstruction", { transfer, lockedAmulet: "locked" });

async function check(...contracts: readonly Contract[]) {
  const store = new MemoryStore();
  await store.replace(contracts, 1);
  return store.read((view) => registry.inventory(view, { now: Date.UTC(2026, 1, 1), credentialDays: 7 }));
}

const summary = (warning: Warning | string) =>
  typeof warning === "string" ? warning : [warning.kind, warning.contractId, warning.refusal, warning.operations];

test("of what is whole nothing", async () => {
  const { registrars, warnings } = await check(rules, amuletRules, openRound, lockedAmulet, offer);
  expect(registrars).toEqual([{ party: dso, instruments: [{ source: dso, id: "Amulet", scheme: "Amulet" }] }]);
  expect(warnings).toEqual([]);
});

test("of an entry that every request needs, with the operations that fail", async () => {
  const { warnings } = await check(rules, amuletRules);
  expect(warnings.map(summary)).toEqual([
    ["contract-missing", undefined, "not-found", ["transfer-factory", "allocation-factory"]],
  ]);
  expect(warnings).toMatchObject([{ registrar: dso, problem: expect.stringContaining("OpenMiningRound") as string }]);
});

async function warnedOfAllocations(line: { readonly include: string; readonly if?: string }) {
  const own = tableRegistry({ ...amulet, operations: { ...amulet.operations, "allocation-factory": [line] } });
  const store = new MemoryStore();
  const held = ["ExternalPartyAmuletRules", "AmuletRules"].map((name) => contract(name, name, { dso }, "global", own));
  await store.replace(held, 1);
  const { warnings } = store.read((view) => own.inventory(view, { now: Date.UTC(2026, 1, 1), credentialDays: 7 }));
  return warnings.map(summary);
}

test("of an entry in lines that an operation includes, unless under a condition", async () => {
  const include = { include: "transfer-factory" };
  expect(await warnedOfAllocations(include)).toEqual([
    ["contract-missing", undefined, "not-found", ["transfer-factory", "allocation-factory"]],
  ]);
  expect(await warnedOfAllocations({ ...include, if: "config" })).toEqual([
    ["contract-missing", undefined, "not-found", ["transfer-factory"]],
  ]);
});

test("of an entry on another synchronizer, or between two", async () => {
  const elsewhere = await check(rules, amuletRules, contract("round", "OpenMiningRound", round, "other"));
  expect(elsewhere.warnings.map(summary)).toMatchObject([["no-common-synchronizer", undefined, "conflict", {}]]);
  const moving = { ...openRound, synchronizerId: undefined };
  expect((await check(rules, amuletRules, moving)).warnings.map(summary)).toMatchObject([
    ["contract-in-reassignment", "round", "conflict", {}],
  ]);
});

test("of a contract that could not be parsed, on which the answer depends", async () => {
  const template = registry.templates.find(({ qualifiedName }) => qualifiedName.endsWith(":LockedAmulet"));
  if (template === undefined) throw new Error("the file has it");
  const unreadable = unreadableTemplate(template);
  const marker = { ...lockedAmulet, template: unreadable, indexKeys: [unreadable.indexKey] };
  const { warnings } = await check(rules, amuletRules, openRound, offer, marker);
  expect(warnings.map(summary)).toEqual([
    ["contract-missing", "offer", "not-found", ["transfer-instruction/accept"]],
    ["contract-missing", "offer", "unavailable", ["transfer-instruction/reject", "transfer-instruction/withdraw"]],
  ]);
  expect(warnings[1]).toMatchObject({ remedy: expect.stringContaining("correct the registry file") as string });
});

test("of an entry only where no factory of the registrar has it beside it", async () => {
  const other = contract("rules-2", "ExternalPartyAmuletRules", { dso }, "other");
  expect((await check(other, rules, amuletRules, openRound)).warnings).toEqual([]);
  const moving = { ...rules, synchronizerId: undefined };
  expect((await check(moving, amuletRules, openRound)).warnings.map(summary)).toEqual([
    ["contract-in-reassignment", "rules", "conflict", ["transfer-factory", "allocation-factory", "settlement-factory"]],
  ]);
});

test("of a pending instruction whose choices fail", async () => {
  const { warnings } = await check(rules, amuletRules, openRound, offer);
  // Without its holding it can be rejected and withdrawn.
  expect(warnings.map(summary)).toEqual([["contract-missing", "offer", "not-found", ["transfer-instruction/accept"]]]);
  const moving = { ...offer, synchronizerId: undefined };
  expect((await check(rules, amuletRules, openRound, lockedAmulet, moving)).warnings.map(summary)).toEqual([
    [
      "instruction-in-reassignment",
      "offer",
      "conflict",
      ["transfer-instruction/accept", "transfer-instruction/reject", "transfer-instruction/withdraw"],
    ],
  ]);
});

const call = (choice: string) => ({ choice, query: { registrar: dso, contractId: "offer" } });

test("operators see its registrars, the choices on a contract, and what lacks for a party's instructions", async () => {
  const store = new MemoryStore();
  await store.replace([rules, amuletRules, openRound, offer], 1);
  const { lookup } = registry;
  store.read((view) => {
    expect(lookup?.registrars(view)).toMatchObject([
      {
        party: dso,
        instruments: [{ id: "Amulet", configuration: { contractId: "rules" } }],
        services: [{ name: "ExternalPartyAmuletRules", contract: { contractId: "rules" } }],
      },
    ]);
    const found = (party: string) =>
      lookup?.partySearches.flatMap(
        (search) => search.find(backgroundContext(view, 0), view.all(search.template), party).instructions ?? [],
      );
    expect(found("bob::1")).toMatchObject([
      {
        contract: { contractId: "offer" },
        registrar: dso,
        instruments: ["Amulet"],
        sender: "alice::1",
        receiver: "bob::1",
        causes: [{ code: "contract-missing" }],
        completion: call("transfer-instruction/accept"),
      },
    ]);
    expect(found("carol::1")).toEqual([]);
  });
  expect(lookup?.choices(offer)).toEqual(
    ["accept", "reject", "withdraw"].map((choice) => call(`transfer-instruction/${choice}`)),
  );
  expect(lookup?.choices(rules)).toEqual([]);
});

const ignore = () => undefined;

test("an explanation calls required what a line needs, not what only leads to it", async () => {
  const { file: tokens } = parseRegistryFile(readFileSync("registries/test-token-v2.yaml"));
  if (tokens === undefined) throw new Error("registries/test-token-v2.yaml has mistakes");
  const admin = "admin::1220";
  const registryOfTokens = tableRegistry(tokens);
  const tokenRules = contract("token-rules", "TokenRules", { admin }, "global", registryOfTokens);
  const store = new MemoryStore();
  await store.replace([tokenRules], 1);
  const account = { owner: "alice::1", provider: null, id: "" };
  const transferLegs = [
    { transferLegId: "1", sender: account, receiver: account, amount: "1.0", instrumentId: "GOLD" },
  ];
  const searches: Search[] = [];
  const recorder: Recorder = {
    search: (search) => searches.push(search),
    credentials: ignore,
    answerWith: ignore,
    entry: ignore,
    disclosed: ignore,
    note: ignore,
    remark: ignore,
  };
  store.read((view) =>
    registryOfTokens.settlementFactory(
      { ...backgroundContext(view, 0), recorder },
      {
        registrar: admin,
        apiVersion: "v2",
        choiceArguments: { transferLegs, allocations: [{ allocationCid: "unknown" }] },
      },
    ),
  );
  expect(searches.map(({ needed, required }) => [needed.template, required])).toEqual([
    // The factory.
    [undefined, true],
    ["Splice.Testing.Tokens.TestTokenV2:TokenRules", true],
    ["Splice.Testing.Tokens.TestTokenV2.Allocation:TokenAllocationV2", false],
  ]);
});
