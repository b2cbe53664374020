/** On random registries: what is refused is named by a warning, and what a warning names is refused. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/util/json.js";
import { elementOf, requireCredentials, rewardChanges } from "../../fixtures/contexts.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";
import { contextCalls } from "../../fixtures/operation-calls.js";
import { checked } from "./checked.js";

const { registrar } = parties;

/** Where a contract is; undefined if it does not exist. */
type Place = "A" | "B" | "moving" | undefined;
const present = fc.constantFrom<Place>("A", "A", "A", "B", "moving");
const anywhere = fc.constantFrom<Place>("A", "A", "A", "A", "B", "moving", undefined);

const random = fc.record({
  factory: anywhere,
  secondFactory: fc.constantFrom<Place>(undefined, undefined, "B", "moving"),
  configuration: anywhere,
  secondConfiguration: fc.constantFrom<Place>(undefined, undefined, "B", "moving"),
  rule: anywhere,
  secondRule: fc.constantFrom<Place>(undefined, undefined, "B", "moving"),
  right: anywhere,
  preapproval: anywhere,
  offer: present,
  allocation: present,
  request: present,
  mint: present,
  holding: anywhere,
  bob: anywhere,
  registrarCredential: anywhere,
  checkBlocklist: fc.constantFrom(false, false, false, true),
  freezeList: anywhere,
  needsFreezeList: fc.constantFrom(false, false, true),
  rewards: fc.boolean(),
  credentialsRequired: fc.boolean(),
});
type Random = typeof random extends fc.Arbitrary<infer T> ? T : never;

const optionsOf = (place: Place): Options =>
  place === "moving" ? { moving: "unassigned" } : { synchronizerId: `sync-${place}` };

const at = (place: Place, ...[template, id, argument]: Parameters<typeof element>): JsonObject[] =>
  place === undefined ? [] : [element(template, id, argument, optionsOf(place))];

function elementsOf(given: Random): JsonObject[] {
  const { checkBlocklist } = given;
  const requirements = {
    holderRequirements: [requirement(["holds=USD"])],
    issuerRequirements: [requirement(["issues=USD"])],
    checkBlocklist,
  };
  const claims = ["holds=USD", "issues=USD"];
  const both = (party: string) =>
    (["A", "B"] as const).flatMap((place) =>
      at(place, "Credential", `${party}-${place}`, payload.credential(party, claims)),
    );
  const configuration = payload.configuration("USD", requirements);
  return [
    ...at(given.factory, "AllocationFactory", "factory", payload.service()),
    ...at(given.secondFactory, "AllocationFactory", "factory-2", payload.service()),
    ...at(given.configuration, "InstrumentConfiguration", "usd", configuration),
    ...at(given.secondConfiguration, "InstrumentConfiguration", "usd-2", configuration),
    ...at(given.rule, "TransferRule", "rule", payload.service()),
    ...at(given.secondRule, "TransferRule", "rule-2", payload.service()),
    ...at(given.right, "FeaturedAppRight", "right", payload.right()),
    ...at(given.preapproval, "TransferPreapproval", "preapproval", payload.preapproval("carol", [])),
    ...at(given.offer, "TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    ...at(given.allocation, "DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
    ...at(given.request, "BurnRequest", "request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
    ...at(given.mint, "MintOffer", "mint-offer", payload.mint("alice", "USD")),
    ...at(given.holding, "Holding", "locked", payload.lockedHolding("alice", "USD")),
    ...at(given.bob, "Credential", "bob", payload.credential("bob", ["holds=USD"])),
    ...at(given.registrarCredential, "Credential", "own", payload.credential(registrar, ["issues=USD"])),
    ...both("alice"),
    ...both("carol"),
    ...(given.freezeList === undefined
      ? []
      : [elementOf("freeze-v1#Freeze:FreezeList", "freeze", { provider: registrar }, optionsOf(given.freezeList))]),
  ];
}

/** The freeze list stands in a template of its own. */
const freezeList = {
  templates: { "freeze-list": { package: "freeze-v1", name: "Freeze:FreezeList" } },
  entries: { "freeze-list": { template: "freeze-list", find: { provider: "registrar" }, value: "list", empty: true } },
};

function contextsOf({ needsFreezeList, rewards, credentialsRequired }: Random): JsonObject {
  const frozen = [
    {
      add: [{ entry: "freeze-list", missing: "refuse" }],
      on: ["transfer-factory", "allocation-factory", "transfer-instruction/accept", "allocation/execute-transfer"],
    },
    { add: [{ entry: "freeze-list" }], on: ["*/reject", "transfer-instruction/withdraw", "allocation/withdraw"] },
    { add: [{ entry: "freeze-list" }], on: ["allocation/cancel"] },
  ];
  const changes = [
    ...(rewards ? rewardChanges() : []),
    ...(credentialsRequired ? [requireCredentials] : []),
    ...(needsFreezeList ? frozen : []),
  ];
  return { ...freezeList, changes };
}

/** The instruction, or the allocation, that an operation is about; undefined for one with a factory. */
const subjects: Readonly<Record<string, string>> = {
  "transfer-instruction": "offer",
  allocation: "allocation",
  "settlement-factory": "allocation",
  "mint-offer": "mint-offer",
  "burn-request": "request",
};
const contractOf = (operation: string): string | undefined =>
  operation.endsWith("/create") ? undefined : subjects[operation.split("/", 1)[0] ?? ""];
/** Without the choices on instructions that are not there. */
const calls = [...contextCalls].filter(([operation]) => !/^(?:mint-request|burn-offer)\/(?!create)/.test(operation));

test("warnings and answers agree", async () => {
  await fc.assert(
    fc.asyncProperty(random, async (given) => {
      const { warnings, statusOf } = await checked(elementsOf(given), contextsOf(given));
      // Without a configuration, USD is known by its instructions only.
      const isKnown = given.configuration !== undefined || given.secondConfiguration !== undefined;
      const wrong: string[] = [];
      for (const [operation, call] of calls) {
        // A transfer to carol is direct or an offer.
        const isDirect = operation === "transfer-factory/direct";
        const names = isDirect ? [operation, "transfer-factory/offer"] : [operation];
        const named = warnings.filter(
          ({ operations, refusal }) => refusal !== undefined && names.some((name) => operations.includes(name)),
        );
        const contractId = contractOf(operation);
        // oxlint-disable-next-line no-await-in-loop -- in sequence: it computes, and waits for nothing
        const isRefused = (await statusOf(call)) !== undefined;
        if (isRefused && named.length === 0 && (isKnown || !isDirect)) wrong.push(`${operation} is not named`);
        const isNamed = contractId === undefined ? !isDirect : named.some((one) => one.contractId === contractId);
        if (!isRefused && isNamed && named.length > 0) wrong.push(`${operation} is answered`);
      }
      expect(wrong).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
