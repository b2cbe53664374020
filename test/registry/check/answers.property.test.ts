/** On random registries: what is refused is named by a warning, and what a warning names is refused. */
import { scanWarnings } from "../../../src/registry/check/scan.js";
import { backgroundContext } from "../../../src/registry/background.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RegistryError } from "../../../src/domain/errors.js";
import type { JsonObject } from "../../../src/util/json.js";
import type {
  Choice,
  IssuanceChoice,
  IssuanceInstruction,
  Registry,
  RequestContext,
} from "../../../src/registry/sdk/registry.js";
import type { MemoryStore } from "../../../src/state/memory-store.js";
import { elementOf, requireCredentials, rewardChanges } from "../../fixtures/contexts.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";
import { storeOf, utilityWith } from "../../fixtures/in-memory.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../../fixtures/requests.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
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
    ...at(given.request, "BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
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

function registryOf({ needsFreezeList, rewards, credentialsRequired }: Random): Registry {
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
  return utilityWith({ ...freezeList, ...(changes.length === 0 ? {} : { changes }) });
}

type Call = (registry: Registry, context: RequestContext) => unknown;

const choiceArguments = (body: JsonObject) => ({ registrar, choiceArguments: body.choiceArguments as JsonObject });
const transfer =
  (receiver: string): Call =>
  (registry, context) =>
    registry.transferFactory(context, choiceArguments(transferV1("alice", receiver)));
const choice =
  (name: Choice, contractId: string): Call =>
  (registry, context) =>
    registry.choiceContext(context, name, { registrar, contractId });
const issuance =
  (name: IssuanceChoice, contractId: string): Call =>
  (registry, context) =>
    registry.utility?.issuanceContext(context, name, { registrar: undefined, contractId });
const creation =
  (name: IssuanceInstruction): Call =>
  (registry, context) =>
    registry.utility?.issuanceFactory(context, name, { registrar, instrumentId: "USD", holders: ["alice"] });
const legs = [leg(account("alice"), account("bob"), "USD")];

/** By operation; a transfer to carol is direct or an offer. */
const factoryCalls: Readonly<Record<string, Call>> = {
  "transfer-factory/offer": transfer("bob"),
  "transfer-factory/self": transfer("alice"),
  "allocation-factory": (registry, context) =>
    registry.allocationFactory(context, choiceArguments(allocationV1("alice", "bob"))),
  "mint-offer/create": creation("mint-offer"),
  "mint-request/create": creation("mint-request"),
  "burn-offer/create": creation("burn-offer"),
  "burn-request/create": creation("burn-request"),
  "burn-mint-factory": (registry, context) =>
    registry.utility?.burnMintFactory(context, { registrar, instrumentId: "USD", holders: ["alice"] }),
};

const choiceCalls: Readonly<Record<string, { readonly contractId: string; readonly call: Call }>> = Object.fromEntries([
  ...(["accept", "reject", "withdraw"] as const).map((name) => {
    const operation = `transfer-instruction/${name}` as const;
    return [operation, { contractId: "offer", call: choice(operation, "offer") }];
  }),
  ...(["execute-transfer", "withdraw", "cancel"] as const).map((name) => {
    const operation = `allocation/${name}` as const;
    return [operation, { contractId: "allocation", call: choice(operation, "allocation") }];
  }),
  ...(["mint-offer", "burn-request"] as const).flatMap((contractId) =>
    (["accept", "reject", "cancel"] as const).map((name) => {
      const operation = `${contractId}/${name}` as const;
      return [operation, { contractId, call: issuance(operation, contractId) }];
    }),
  ),
  [
    "settlement-factory",
    {
      contractId: "allocation",
      call: (registry: Registry, context: RequestContext) =>
        registry.settlementFactory(context, choiceArguments(settlement(legs, ["allocation"]))),
    },
  ],
]) as Record<string, { contractId: string; call: Call }>;

/** The reason of a refusal; undefined for an answer. */
function refusalOf(store: MemoryStore, registry: Registry, call: Call): string | undefined {
  try {
    store.read((view) => call(registry, backgroundContext(view, NOW)));
    return undefined;
  } catch (error) {
    if (error instanceof RegistryError) return error.reason;
    throw error;
  }
}

test("warnings and answers agree", async () => {
  await fc.assert(
    fc.asyncProperty(random, async (given) => {
      const registry = registryOf(given);
      const store = await storeOf(elementsOf(given), registry);
      const { found } = await scanWarnings(store, registry.checks ?? [], { now: () => NOW, credentialDays: 30 });
      const warnings = found.warnings();
      const naming = (operation: string) =>
        warnings.filter(({ operations, refusal }) => refusal !== undefined && operations.includes(operation));
      // Without a configuration, USD is known by its instructions only.
      const isKnown = given.configuration !== undefined || given.secondConfiguration !== undefined;

      for (const [operation, call] of Object.entries(factoryCalls)) {
        const refusal = refusalOf(store, registry, call);
        expect([operation, naming(operation).length > 0]).toEqual([operation, refusal !== undefined]);
      }
      const unnamed: string[] = [];
      const answered: string[] = [];
      for (const [operation, { contractId, call }] of Object.entries(choiceCalls)) {
        const isRefused = refusalOf(store, registry, call) !== undefined;
        const named = naming(operation);
        if (isRefused && named.length === 0) unnamed.push(operation);
        if (!isRefused && named.some((warning) => warning.contractId === contractId)) answered.push(operation);
      }
      // Carol's credentials are everywhere, so that only the registry can be at fault.
      const isRefused = isKnown && refusalOf(store, registry, transfer("carol")) !== undefined;
      const named = [...naming("transfer-factory/direct"), ...naming("transfer-factory/offer")];
      if (isRefused && named.length === 0) unnamed.push("transfer-factory/direct");
      expect({ unnamed, answered }).toEqual({ unnamed: [], answered: [] });
    }),
    { numRuns: 500 },
  );
});
