/** Choices on instructions that are not there yet: named if they would fail on one that is created now. */
import { expect, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { element, payload } from "../../fixtures/elements.js";
import { type Changes, completeElements } from "../../fixtures/operation-calls.js";

const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });

/** The choices that warnings name, sorted; the registry has no instructions. */
async function namedChoices(changes: Changes): Promise<string[]> {
  const elements = completeElements({ ...changes, instructions: [], minting: [] });
  const file = elements.map((one) => `${JSON.stringify(one)}\n`).join("");
  const { contracts } = parseSnapshot(file, new Decoder(registry.templates));
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  const { warnings } = store.read((view) => registry.inventory(view, { now: Date.now(), credentialDays: 30 }));
  const operations = warnings.flatMap((one) => (typeof one === "string" ? [] : one.operations));
  const choices = operations.filter((name) => /\/(accept|reject|withdraw|cancel|execute-transfer)$/.test(name));
  return choices.toSorted((a, b) => a.localeCompare(b));
}

const onB = { synchronizerId: "sync-B" };
const accepts = ["burn-offer/accept", "burn-request/accept", "mint-offer/accept", "mint-request/accept"];

test("none if nothing is wrong", async () => {
  expect(await namedChoices({})).toEqual([]);
});

test("those that need a rule, which does not exist", async () => {
  expect(await namedChoices({ registry: { rule: undefined } })).toEqual([
    "allocation/execute-transfer",
    "transfer-instruction/accept",
  ]);
});

test("those that need a rule, which is not on the synchronizer of the factory", async () => {
  const rule = element("TransferRule", "rule", payload.service(), onB);
  expect(await namedChoices({ registry: { rule } })).toEqual([
    "allocation/execute-transfer",
    "transfer-instruction/accept",
  ]);
});

test("those that need a blocklist, although no instruction can be created", async () => {
  const configuration = element(
    "InstrumentConfiguration",
    "usd",
    payload.configuration("USD", { checkBlocklist: true }),
  );
  const moving = { moving: "unassigned", createdAt: "2026-01-06T09:00:00.000000Z" } as const;
  const added = [element("AllocationFactory", "newest", payload.service(), moving)];
  expect(await namedChoices({ registry: { configuration }, added })).toEqual(
    ["allocation/execute-transfer", ...accepts, "transfer-instruction/accept"].toSorted((a, b) => a.localeCompare(b)),
  );
});

test("none if no instruction can be created, since there is none from before", async () => {
  expect(await namedChoices({ registry: { factory: undefined } })).toEqual([]);
  const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD"), onB);
  expect(await namedChoices({ registry: { configuration } })).toEqual([]);
});
