/** What `offledger check` warns of where the registry is a file, and what operators look up in it. */
import { describe, expect, test } from "vitest";
import { unreadableTemplate } from "../../src/domain/template.js";
import type { StoredContract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/util/json.js";
import { scanInventory } from "../../src/registry/check/scan.js";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import { backgroundContext } from "../../src/registry/background.js";
import { Recording } from "../../src/service/recorder.js";
import type { Warning } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { elementOf as shortElement } from "../../src/testing/answer.js";
import { elementOf } from "../fixtures/contexts.js";
import { contractsOf, executorOn, registryOf, storeOf, tableOf } from "../fixtures/in-memory.js";

const amulet = tableOf("amulet.yaml");
const registry = tableRegistry(amulet);
const dso = "dso::1220";

function contract(id: string, name: string, payload: JsonObject, more: Partial<StoredContract> = {}, of = registry) {
  const found = of.templates.find(({ qualifiedName }) => qualifiedName.endsWith(`:${name}`));
  const [one] = contractsOf([elementOf(`${found?.packageName}#${found?.qualifiedName}`, id, payload)], of);
  if (one === undefined) throw new Error(`${name} is not stored`);
  return { ...one, ...more };
}
const elsewhere = { synchronizerId: "other" };
const moving = { synchronizerId: undefined };

const rules = contract("rules", "ExternalPartyAmuletRules", { dso });
const amuletRules = contract("amulet-rules", "AmuletRules", { dso });
const round = { dso, opensAt: "2026-01-01T00:00:00Z", round: { number: "1" } };
const openRound = contract("round", "OpenMiningRound", round);
const locked = contract("locked", "LockedAmulet", { amulet: { dso } });
const transfer = { sender: "alice::1", receiver: "bob::1", instrumentId: { admin: dso, id: "Amulet" } };
const offer = contract("offer", "AmuletTransferInstruction", { transfer, lockedAmulet: "locked" });
/** The holding in a form that could not be parsed. */
const unreadable = unreadableTemplate(locked.template);
const marker = { ...locked, template: unreadable, indexKeys: [unreadable.indexKey] };

async function check(contracts: readonly StoredContract[], of = registry) {
  const store = new MemoryStore();
  await store.replace(contracts, 1);
  const { registrars, warnings } = await scanInventory(store, of, {
    now: () => Date.UTC(2026, 1, 1),
    credentialDays: 7,
  });
  return { registrars, warnings: warnings.filter((one): one is Warning => typeof one !== "string") };
}
const summary = ({ kind, contractId, refusal, operations }: Warning) => [kind, contractId, refusal, operations];

const [transfers, allocations] = ["transfer-factory", "allocation-factory"];
const [accept, reject, withdraw] = ["accept", "reject", "withdraw"].map((choice) => `transfer-instruction/${choice}`);

describe("warned is", () => {
  const missing = ["contract-missing", undefined, "not-found", [transfers, allocations]];
  const needsHolding = ["contract-missing", "offer", "not-found", [accept]];
  const other = contract("rules-2", "ExternalPartyAmuletRules", { dso }, elsewhere);
  const all = [transfers, allocations, "settlement-factory"];

  test.each<[string, readonly StoredContract[], unknown[]]>([
    ["of what is whole nothing", [rules, amuletRules, openRound, locked, offer], []],
    ["of an entry that every request needs", [rules, amuletRules], [missing]],
    [
      "of an entry on another synchronizer",
      [rules, amuletRules, contract("round", "OpenMiningRound", round, elsewhere)],
      [["no-common-synchronizer", "round", "conflict", [transfers, allocations]]],
    ],
    [
      "of an entry between two",
      [rules, amuletRules, { ...openRound, ...moving }],
      [["contract-moving", "round", "conflict", [transfers, allocations]]],
    ],
    // Without its holding it can be rejected and withdrawn.
    ["of an instruction whose choice fails", [rules, amuletRules, openRound, offer], [needsHolding]],
    [
      "of an instruction between two synchronizers",
      [rules, amuletRules, openRound, locked, { ...offer, ...moving }],
      [["instruction-moving", "offer", "conflict", [accept, reject, withdraw]]],
    ],
    [
      "of what could not be parsed, on which an answer depends",
      [rules, amuletRules, openRound, offer, marker],
      [needsHolding, ["contract-unreadable", "offer", "unavailable", [reject, withdraw]]],
    ],
    ["nothing where another factory has the entry beside it", [other, rules, amuletRules, openRound], []],
    [
      "of the factory, where no other has the entry beside it",
      [{ ...rules, ...moving }, amuletRules, openRound],
      [["contract-moving", "rules", "conflict", all]],
    ],
  ])("%s", async (_what, contracts, expected) => {
    const { registrars, warnings } = await check(contracts);
    expect(warnings.map(summary)).toEqual(expected);
    const instruments = [{ source: dso, id: "Amulet", scheme: "Amulet" }];
    expect(registrars).toEqual([{ party: dso, instruments }]);
  });

  test("with what is missing, whose it is, and what to do", async () => {
    const { warnings } = await check([rules, amuletRules]);
    expect(warnings).toMatchObject([{ registrar: dso, problem: expect.stringContaining("OpenMiningRound") as string }]);
    const { warnings: ofMarker } = await check([rules, amuletRules, openRound, offer, marker]);
    expect(ofMarker[1]?.help).toContain("correct the registry file");
  });

  test.each([
    [{}, [missing]],
    [{ if: "config" }, [["contract-missing", undefined, "not-found", [transfers]]]],
  ])("of an entry in lines that an operation includes, unless under a condition: %j", async (more, expected) => {
    const operations = { ...amulet.operations, "allocation-factory": [{ include: "transfer-factory", ...more }] };
    const own = tableRegistry({ ...amulet, operations });
    const names = ["ExternalPartyAmuletRules", "AmuletRules"];
    const { warnings } = await check(
      names.map((name) => contract(name, name, { dso }, {}, own)),
      own,
    );
    expect(warnings.map(summary)).toEqual(expected);
  });
});

test("operators see its registrars, the choices on a contract, and what lacks for a party's instructions", async () => {
  const call = (choice: unknown) => ({ choice, query: { registrar: dso, contractId: "offer" } });
  const store = new MemoryStore();
  await store.replace([rules, amuletRules, openRound, offer], 1);
  const { lookup } = registry;
  store.read((view) => {
    const configured = { contract: { contractId: "rules" } };
    expect(lookup?.registrars(view)).toMatchObject([
      {
        party: dso,
        instruments: [{ id: "Amulet", configuration: configured.contract }],
        services: [{ name: "ExternalPartyAmuletRules", ...configured }],
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
        completion: call(accept),
      },
    ]);
    expect(found("carol::1")).toEqual([]);
  });
  expect(lookup?.choices(offer)).toEqual([accept, reject, withdraw].map(call));
  expect(lookup?.choices(rules)).toEqual([]);
});

test("an explanation calls required what a line needs, not what only leads to it", async () => {
  const tokens = registryOf("test-token-v2.yaml");
  const admin = "admin::1220";
  const tokenRules = {
    contractId: "rules",
    views: { "transfer-factory/2": { admin }, "settlement-factory/2": { admin } },
  };
  const store = await storeOf([shortElement(tokenRules, 0, tokens)], tokens);
  const account = { owner: "alice::1", provider: null, id: "" };
  const leg = { transferLegId: "1", sender: account, receiver: account, amount: "1.0", instrumentId: "GOLD" };
  const choiceArguments = { transferLegs: [leg], allocations: [{ allocationCid: "unknown" }] };
  const recording = new Recording(true);
  await executorOn(store, tokens).execute(
    (of, context) => of.settlementFactory(context, { registrar: admin, apiVersion: "v2", choiceArguments }),
    recording,
  );
  const searches = recording.last?.explanation?.searches ?? [];
  expect(searches.map(({ template, required }) => [template, required])).toEqual([
    // The factory.
    ["transfer-factory, settlement-factory", true],
    ["transfer-factory", true],
    ["allocation", false],
  ]);
});

test("an explanation calls required what must exist", async () => {
  const store = new MemoryStore();
  await store.replace([rules, offer], 1);
  const recording = new Recording(true);
  const accepted = () =>
    executorOn(store, registry).execute(
      (of, context) =>
        of.choiceContext(context, "transfer-instruction/accept", { registrar: dso, contractId: "offer" }),
      recording,
    );
  expect(accepted).toThrow("does not exist");
  const searches = recording.last?.explanation?.searches ?? [];
  expect(searches.map(({ template, required }) => [template, required])).toContainEqual([
    "Splice.Amulet:LockedAmulet",
    true,
  ]);
});
