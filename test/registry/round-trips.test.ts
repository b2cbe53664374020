/**
 * The rules on a store that has to fetch what they look for: every operation of
 * the Registry Utility gives the same as on a store that has everything at hand,
 * and takes three round trips at most, however large the question; so it does on
 * a real database.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { InstrumentDirectory } from "../../src/registry/instrument-directory.js";
import type { Freshness } from "../../src/domain/freshness.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { notFound, type RegistryErrorReason, RegistryError } from "../../src/domain/errors.js";
import type {
  Choice,
  ContextAnswer,
  FactoryQuery,
  InstrumentQuery,
  IssuanceChoice,
  IssuanceQuery,
} from "../../src/registry/sdk/registry.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { transferOffer } from "../../src/registry/utility/templates/instructions.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { Replica } from "../../src/store/postgres/read/replica.js";
import { PostgresWriter } from "../../src/store/postgres/write/postgres-writer.js";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { Template } from "../../src/domain/template.js";
import type { StoreReader, View } from "../../src/store/port.js";
import {
  account,
  allocationV1,
  allocationV2,
  leg,
  legSide,
  replaced,
  settlement,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { FetchingReader } from "../fixtures/fetching-reader.js";
import { freshSchema, type Schema } from "../fixtures/postgres-store.js";
import { registryOf } from "../fixtures/registries.js";

/** What every operation may take. */
const MOST_TRIPS = 3;

/** The worst case that a registry has to support: the page "The surface", section Limits. */
const registry = utilityRegistry({
  settlementLimits: { legs: 25, allocations: 50, instruments: 25, accounts: 50, parties: 100 },
});
const registrar: string = parties.registrar;
const stranger = "stranger::1220";
const now = Date.parse("2026-06-01T00:00:00Z");

/** USD has to be held by whoever has `holds=USD`, and issued by whoever has `issues=USD` from another issuer. */
const configuration = payload.configuration("USD", {
  additionalIdentifiers: [{ source: "ISO", id: "840", scheme: "Number" }],
  holderRequirements: [requirement(["holds=USD"])],
  issuerRequirements: [requirement(["issues=USD"], "central-bank::1220")],
});
const mayIssue = (holder: string): JsonObject =>
  element(
    "Credential",
    `${holder}-issues`,
    payload.credential(holder, ["issues=USD"], { issuer: "central-bank::1220" }),
  );

/** A contract of each kind on which a choice is exercised, named by the noun of the choice, with what it locks. */
const pending = (options: Options = {}): JsonObject[] => [
  element("TransferOffer", "transfer-instruction", payload.offer("alice", "bob", "USD", "locked"), options),
  element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked"), options),
  element("MintOffer", "mint-offer", payload.mint("alice", "USD"), options),
  element("MintRequest", "mint-request", payload.mint("alice", "USD"), options),
  element("BurnOffer", "burn-offer", payload.burn("alice", "USD"), options),
  element("BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" }), options),
  element("Holding", "locked", payload.lockedHolding("alice", "USD"), options),
];

/** Everything that the operations need; carol has approved of transfers beforehand, and dave has no credential. */
const whole = registryOf(
  { configuration: element("InstrumentConfiguration", "usd", configuration) },
  ...pending(),
  element("TransferOffer", "to-dave", payload.offer("alice", "dave", "USD", "locked")),
  element("TransferOffer", "in-gbp", payload.offer("alice", "bob", "GBP", "locked")),
  element("TransferPreapproval", "carol-approves", payload.preapproval("carol", ["USD"])),
  element("Credential", "carol-holds", payload.credential("carol", ["holds=USD"])),
  mayIssue("alice"),
  mayIssue("bob"),
);

function contractsOf(elements: readonly JsonObject[]): (Contract | CountedOnly)[] {
  const decoder = new Decoder(registry.templates, true);
  return elements.flatMap((one) => decoder.decode(one)?.contract ?? []);
}

async function storeOf(elements: readonly JsonObject[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.replace(contractsOf(elements), 10, 1_000_000);
  return store;
}

/** A database that all cases use, one behind the other. */
let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const clock = () => performance.now();

/** A replica of a database with these contracts, which keeps nothing of what it has read. */
async function replicaOf(elements: readonly JsonObject[]): Promise<Replica> {
  const { database } = schema;
  const written = { contents: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(database, 0, written, (error) => {
    throw error;
  });
  await writer.replace(contractsOf(elements), 10, 1_000_000);
  const replica = new Replica(database, { kinds: registry.templates, contents: "tests", cacheBytes: 0, clock });
  await replica.refresh();
  return replica;
}

const still: Freshness = { staleReason: () => undefined, catchUp: async () => false };
const engineOn = (reader: StoreReader, freshness = still): QueryExecutor =>
  new QueryExecutor(registry, reader, freshness, () => now);

/** Answers at once or with a promise, as the engine does. */
type Asking = (executor: QueryExecutor) => unknown;

/** What came of a question; what is not an outcome of the registry is thrown. */
async function outcomeOf(
  asking: () => unknown,
): Promise<{ readonly answer: unknown } | { reason: RegistryErrorReason; message: string }> {
  try {
    return { answer: said(await asking()) };
  } catch (error) {
    if (error instanceof RegistryError) return { reason: error.reason, message: error.message };
    throw error;
  }
}

/** What an answer says. What is derived from a contract, and when, is an affair of each store. */
const said = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (name === "slots") return undefined;
      return typeof value === "bigint" ? value.toString() : value;
    }),
  );

interface Told {
  /** Why there is no answer; "answered" where there is one. */
  readonly told: RegistryErrorReason | "answered";
  readonly trips: readonly number[];
}

/**
 * Asks on a store that has everything at hand, on one that has to fetch, and on a
 * database, and tells what both say and how many round trips each reading took. One that does
 * not listen to what is foreseen has to say the same, however long it takes.
 */
async function onBoth(asking: Asking, elements: readonly JsonObject[] = whole): Promise<Told> {
  const store = await storeOf(elements);
  const reader = new FetchingReader(store);
  const atHand = await outcomeOf(() => asking(engineOn(store)));
  const fetched = await outcomeOf(() => asking(engineOn(reader)));
  expect(fetched).toEqual(atHand);
  const deaf = new FetchingReader(store, { foresees: false, mostRuns: 500 });
  expect(await outcomeOf(() => asking(engineOn(deaf)))).toEqual(atHand);
  for (const trips of reader.trips) expect(trips).toBeLessThanOrEqual(MOST_TRIPS);
  const replica = await replicaOf(elements);
  const queries = vi.spyOn(schema.database, "query");
  try {
    expect(await outcomeOf(() => asking(engineOn(replica)))).toEqual(atHand);
    expect(queries.mock.calls.length).toBeLessThanOrEqual(MOST_TRIPS * reader.trips.length);
  } finally {
    queries.mockRestore();
  }
  return { told: "reason" in atHand ? atHand.reason : "answered", trips: reader.trips };
}

/** What is told of a question that is put once. */
const answered = (trips: number): Told => ({ told: "answered", trips: [trips] });
const failed = (told: RegistryErrorReason, trips: number): Told => ({ told, trips: [trips] });

const factoryOf = (body: JsonObject, of = registrar): FactoryQuery => ({
  registrar: of,
  choiceArguments: body["choiceArguments"] as JsonObject,
});
const transfer =
  (body: JsonObject, of?: string): Asking =>
  (executor) =>
    executor.execute((asked, context) => asked.transferFactory(context, factoryOf(body, of)));
const allocation =
  (body: JsonObject, of?: string): Asking =>
  (executor) =>
    executor.execute((asked, context) => asked.allocationFactory(context, factoryOf(body, of)));
const settling =
  (body: JsonObject, of?: string): Asking =>
  (executor) =>
    executor.execute((asked, context) => asked.settlementFactory(context, factoryOf(body, of)));
const choosing =
  (choice: Choice, contractId: string, path: { readonly registrar: string | undefined } = { registrar }): Asking =>
  (executor) =>
    executor.execute((asked, context) => asked.choiceContext(context, choice, { ...path, contractId }));
const issuing =
  (choice: IssuanceChoice, contractId: string): Asking =>
  (executor) =>
    executor.executeUtility((asked, context) =>
      asked.issuanceContext(context, choice, { registrar: undefined, contractId }),
    );
const issuance =
  (operation: "issuanceFactory" | "burnMintFactory", query: Partial<IssuanceQuery> = {}): Asking =>
  (executor) =>
    executor.executeUtility((asked, context) =>
      asked[operation](context, { registrar, instrumentId: "USD", holders: ["alice", "bob"], ...query }),
    );
const configured =
  (identifier: InstrumentQuery["identifier"], of = registrar): Asking =>
  (executor) =>
    executor.executeUtility((asked, context) => asked.instrumentConfiguration(context, { registrar: of, identifier }));

const page =
  (of: string): Asking =>
  (executor) =>
    new InstrumentDirectory(executor, new Map(), true).page(of);

const nounOf = (choice: string): string => choice.split("/", 1)[0] ?? "";

describe("a choice", () => {
  /** Who is let out needs no credential, of which only the configuration would tell. */
  const [enters, leaves] = [3, 2];
  const choices: Record<Choice, Told> = {
    "transfer-instruction/accept": answered(enters),
    "transfer-instruction/reject": answered(leaves),
    "transfer-instruction/withdraw": answered(leaves),
    "allocation/execute-transfer": answered(enters),
    "allocation/withdraw": answered(leaves),
    "allocation/cancel": answered(leaves),
    // There are none, of which the registrar alone tells.
    "allocation-instruction/accept": failed("invalid", 1),
    "allocation-instruction/withdraw": failed("invalid", 1),
  };
  const issuanceChoices: Record<IssuanceChoice, Told> = {
    "mint-offer/accept": answered(enters),
    "mint-offer/reject": answered(leaves),
    "mint-offer/cancel": answered(leaves),
    "mint-request/accept": answered(enters),
    "mint-request/reject": answered(leaves),
    "mint-request/cancel": answered(leaves),
    "burn-offer/accept": answered(enters),
    "burn-offer/reject": answered(leaves),
    "burn-offer/cancel": answered(leaves),
    "burn-request/accept": answered(enters),
    "burn-request/reject": answered(leaves),
    "burn-request/cancel": answered(leaves),
  };
  const all: [string, (contractId: string) => Asking, Told][] = [
    ...(Object.entries(choices) as [Choice, Told][]).map(([choice, told]): (typeof all)[number] => [
      choice,
      (contractId) => choosing(choice, contractId),
      told,
    ]),
    ...(Object.entries(issuanceChoices) as [IssuanceChoice, Told][]).map(([choice, told]): (typeof all)[number] => [
      choice,
      (contractId) => issuing(choice, contractId),
      told,
    ]),
  ];
  /** What there is none of is refused alike, whatever it is about. */
  const onContracts = all.filter(([choice]) => nounOf(choice) !== "allocation-instruction");

  test.each(all)("%s", async (choice, asking, told) => {
    expect(await onBoth(asking(nounOf(choice)))).toEqual(told);
  });

  test.each(onContracts)("%s on a contract that is not there", async (_choice, asking) => {
    expect(await onBoth(asking("00ff"))).toEqual(failed("not-found", 1));
  });

  test.each(onContracts)("%s on a contract of another kind", async (_choice, asking) => {
    expect(await onBoth(asking("locked"))).toEqual(failed("not-found", 1));
  });

  test.each(onContracts)("%s on a contract between two synchronizers", async (choice, asking) => {
    const moving = registryOf({}, ...pending({ moving: "unassigned" }));
    expect(await onBoth(asking(nounOf(choice)), moving)).toEqual(failed("conflict", 1));
  });

  test.each(onContracts)("%s where nothing but the contract is there", async (choice, asking, expected) => {
    const isOut = expected.trips[0] === leaves;
    // The allocation leaves it to the configuration to name the provider, whose rewards are looked for last.
    const told = isOut ? answered(2) : failed("not-found", nounOf(choice) === "allocation" ? 2 : 3);
    expect(await onBoth(asking(nounOf(choice)), pending().slice(0, -1))).toEqual(told);
  });

  test("whose path names no registrar", async () => {
    expect(
      await onBoth(choosing("transfer-instruction/accept", "transfer-instruction", { registrar: undefined })),
    ).toEqual(answered(3));
  });

  test("of another registrar's", async () => {
    const asking = choosing("transfer-instruction/accept", "transfer-instruction", { registrar: stranger });
    expect(await onBoth(asking)).toEqual(failed("not-found", 1));
  });

  test("for which a credential is lacking", async () => {
    expect(await onBoth(choosing("transfer-instruction/accept", "to-dave"))).toEqual(failed("not-found", 3));
  });

  test("on an instrument that is not configured", async () => {
    expect(await onBoth(choosing("transfer-instruction/accept", "in-gbp"))).toEqual(failed("not-found", 3));
  });

  test("on an allocation instruction of a registrar that is not served", async () => {
    const asking = choosing("allocation-instruction/accept", "allocation", { registrar: stranger });
    expect(await onBoth(asking)).toEqual(failed("not-found", 1));
  });
});

const [alice, bob, dave] = [account("alice"), account("bob"), account("dave")];
const usdOf = (admin: string): JsonObject => ({ instrumentId: { admin, id: "USD" } });
const gbp: JsonObject = { instrumentId: { admin: registrar, id: "GBP" } };
const allocated = allocationV2(alice, [legSide("SenderSide", "USD")]);

describe("a factory", () => {
  test.each<[string, Asking, Told]>([
    ["transfer to oneself, version 1", transfer(transferV1("alice", "alice")), answered(3)],
    ["transfer to oneself, version 2", transfer(transferV2(alice, alice)), answered(3)],
    ["transfer that is approved, version 1", transfer(transferV1("alice", "carol")), answered(3)],
    ["transfer that is approved, version 2", transfer(transferV2(alice, account("carol"))), answered(3)],
    ["transfer that is offered, version 1", transfer(transferV1("alice", "bob")), answered(3)],
    ["transfer that is offered, version 2", transfer(transferV2(alice, bob)), answered(3)],
    ["allocation, version 1", allocation(allocationV1("alice", "bob")), answered(3)],
    ["allocation, version 2, that sends", allocation(allocated), answered(3)],
    [
      "allocation, version 2, that receives and needs nothing",
      allocation(allocationV2(alice, [legSide("ReceiverSide", "USD")])),
      answered(2),
    ],
    ["settlement of one leg", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), answered(3)],
    ["settlement without allocations", settling(settlement([leg(alice, bob, "USD")], [])), answered(3)],
    ["mint or burn", issuance("issuanceFactory"), answered(3)],
    ["mint or burn for nobody", issuance("issuanceFactory", { holders: [] }), answered(2)],
    ["burn and mint", issuance("burnMintFactory"), answered(3)],
  ])("of a %s", async (_what, asking, told) => {
    expect(await onBoth(asking)).toEqual(told);
  });

  test.each<[string, Asking, Told]>([
    [
      "transfer, of a registrar that is not served",
      transfer(transferV2(alice, bob, usdOf(stranger)), stranger),
      failed("not-found", 1),
    ],
    [
      "transfer, of another registrar's instrument",
      transfer(transferV1("alice", "bob", usdOf(stranger))),
      failed("invalid", 0),
    ],
    ["transfer, of one without a credential", transfer(transferV1("dave", "bob")), failed("not-found", 3)],
    ["transfer, of no instrument", transfer(transferV1("alice", "bob", gbp)), failed("not-found", 2)],
    [
      "allocation, of a registrar that is not served",
      allocation(replaced(allocated, "choiceArguments.allocation.admin", stranger), stranger),
      failed("not-found", 1),
    ],
    ["allocation, of one without a credential", allocation(allocationV1("dave", "bob")), failed("not-found", 3)],
    ["allocation, of no instrument", allocation(allocationV1("alice", "bob", gbp)), failed("not-found", 2)],
    ["allocation, of nothing", allocation(allocationV2(alice, [])), failed("invalid", 0)],
    [
      "settlement, of a registrar that is not served",
      settling(settlement([leg(alice, bob, "USD")], ["allocation"]), stranger),
      failed("not-found", 1),
    ],
    [
      "settlement, of an allocation that is not there",
      settling(settlement([leg(alice, bob, "USD")], ["allocation", "00ff"])),
      failed("not-found", 1),
    ],
    [
      "settlement, with one without a credential",
      settling(settlement([leg(alice, dave, "USD")], ["allocation"])),
      failed("not-found", 3),
    ],
    [
      "settlement, of too many legs",
      settling(
        settlement(
          Array.from({ length: 26 }, () => leg(alice, bob, "USD")),
          ["allocation"],
        ),
      ),
      failed("invalid", 0),
    ],
    [
      "mint or burn, of a registrar that is not served",
      issuance("issuanceFactory", { registrar: stranger }),
      failed("not-found", 1),
    ],
    [
      "mint or burn, of one without a credential",
      issuance("issuanceFactory", { holders: ["alice", "dave"] }),
      failed("not-found", 3),
    ],
    [
      "burn and mint, of a registrar that is not served",
      issuance("burnMintFactory", { registrar: stranger }),
      failed("not-found", 1),
    ],
    [
      "burn and mint, of one without a credential",
      issuance("burnMintFactory", { holders: ["alice", "dave"] }),
      failed("not-found", 3),
    ],
  ])("is not given of a %s", async (_what, asking, told) => {
    expect(await onBoth(asking)).toEqual(told);
  });
});

describe("what there is", () => {
  const instruments: Asking = (executor) => executor.execute((asked, context) => asked.instruments(context, registrar));

  test.each<[string, Asking, Told]>([
    ["the instruments", instruments, answered(1)],
    ["a page of them, with their supply", page(registrar), answered(2)],
    ["a page of a registrar that is not served", page(stranger), failed("not-found", 1)],
    ["the configuration of one", configured({ source: registrar, id: "USD", scheme: "Internal" }), answered(1)],
    [
      "the configuration of one by another name",
      configured({ source: "ISO", id: "840", scheme: "Number" }),
      answered(1),
    ],
    [
      "the configuration of none",
      configured({ source: registrar, id: "GBP", scheme: "Internal" }),
      failed("not-found", 1),
    ],
    [
      "the configuration of a stranger's",
      configured({ source: registrar, id: "USD", scheme: "Internal" }, stranger),
      failed("not-found", 1),
    ],
    [
      "all configurations",
      (executor) => executor.executeUtility((asked, context) => asked.instrumentConfigurations(context)),
      answered(1),
    ],
    ["the operator", (executor) => executor.executeUtility((asked, context) => asked.operator(context)), answered(1)],
  ])("%s", async (_what, asking, told) => {
    expect(await onBoth(asking)).toEqual(told);
  });

  test("the inventory, which no request asks for and which takes as many as it takes", async () => {
    const store = await storeOf(whole);
    const atHand = store.read((view) => registry.inventory(view));
    expect(await new FetchingReader(store).read((view) => registry.inventory(view))).toEqual(atHand);
    expect(atHand.registrars).toHaveLength(1);
  });
});

const partyOf = (side: string, index: number) => `${side}-${index}`;
const accountOf = (side: string, index: number) => account(partyOf(side, index), `provider-of-${partyOf(side, index)}`);
/** Each leg of the largest settlement has an instrument of its own, and an issuer whose credential both its sides need. */
const issuerOf = (index: number) => `issuer-${index}::1220`;

describe("the largest settlement that every registry has to support", () => {
  const legs = Array.from({ length: 25 }, (_, index) => index);
  const sides = ["sender", "receiver"] as const;
  const elements = registryOf(
    {},
    ...legs.flatMap((index) => [
      element(
        "InstrumentConfiguration",
        `instrument-${index}`,
        payload.configuration(`I${index}`, { holderRequirements: [requirement(["holds=it"], issuerOf(index))] }),
      ),
      ...sides.flatMap((side) => {
        const party = partyOf(side, index);
        const [sender, receiver] = [partyOf("sender", index), partyOf("receiver", index)];
        return [
          element("Credential", `${party}-holds`, payload.credential(party, ["holds=it"], { issuer: issuerOf(index) })),
          element(
            "DvpLegAllocation",
            `allocation-of-${party}`,
            payload.allocation(sender, receiver, `I${index}`, `locked-by-${party}`),
          ),
          element("Holding", `locked-by-${party}`, payload.lockedHolding(party, `I${index}`)),
        ];
      }),
    ]),
  );
  const body = settlement(
    legs.map((index) => leg(accountOf("sender", index), accountOf("receiver", index), `I${index}`)),
    legs.flatMap((index) => sides.map((side) => `allocation-of-${partyOf(side, index)}`)),
  );

  test("takes no more round trips than the smallest", async () => {
    expect(await onBoth(settling(body), elements)).toEqual(answered(3));
  });

  test("has everything in its answer", async () => {
    const executor = engineOn(new FetchingReader(await storeOf(elements)));
    const answer = await executor.execute((asked, context) => asked.settlementFactory(context, factoryOf(body)));
    // Factory, rule, reward and right; a configuration for each leg; credential, allocation and holding for each side.
    expect(answer.disclosed).toHaveLength(4 + 25 + 3 * 50);
  });

  test("fails for the last credential that is lacking as any other", async () => {
    const lacking = elements.filter((one) => !JSON.stringify(one).includes('"receiver-24-holds"'));
    expect(lacking).toHaveLength(elements.length - 1);
    expect(await onBoth(settling(body), lacking)).toEqual(failed("not-found", 3));
  });
});

/** A registry whose configuration names another provider than its factory does. */
describe("with a provider of the instrument's own", () => {
  const provider = "own-provider::1220";
  const elements = [
    ...registryOf(
      { configuration: element("InstrumentConfiguration", "usd", { ...configuration, provider }) },
      ...pending(),
      element("TransferPreapproval", "bob-approves", payload.preapproval("bob", [])),
      mayIssue("alice"),
      mayIssue("bob"),
    ),
    element("AppRewardConfiguration", "own-reward", payload.reward({ provider })),
    element("FeaturedAppRight", "own-right", payload.right({ provider })),
  ];

  test.each<[string, Asking, string]>([
    ["transfer that is approved", transfer(transferV1("alice", "bob")), "own-reward"],
    ["allocation to execute", choosing("allocation/execute-transfer", "allocation"), "own-reward"],
    ["transfer to oneself", transfer(transferV1("alice", "alice")), "reward"],
    ["transfer to accept", choosing("transfer-instruction/accept", "transfer-instruction"), "reward"],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), "reward"],
    ["burn and mint", issuance("burnMintFactory"), "reward"],
  ])("its rewards are fetched with the credentials where they count: %s", async (_what, asking, reward) => {
    expect(await onBoth(asking, elements)).toEqual(answered(3));
    expect(await disclosedBy(asking, elements)).toContain(reward);
  });
});

/** A second synchronizer with a registry of its own, where everything asks for other issuers and providers. */
describe("on two synchronizers, of which the newer cannot answer", () => {
  const provider = "provider-B::1220";
  const newer: Options = { synchronizerId: "sync-B", createdAt: "2026-02-05T09:00:00.000000Z" };
  const needsOther = [requirement(["holds=USD"], "issuer-B::1220")];
  const both = [
    ...whole,
    element("AllocationFactory", "factory-B", payload.service({ provider }), newer),
    element(
      "InstrumentConfiguration",
      "usd-B",
      payload.configuration("USD", { provider, holderRequirements: needsOther, issuerRequirements: needsOther }),
      newer,
    ),
    element("AppRewardConfiguration", "reward-B", payload.reward({ provider }), newer),
    element("FeaturedAppRight", "right-B", payload.right({ provider }), newer),
    element("TransferPreapproval", "carol-approves-B", payload.preapproval("carol", []), newer),
  ];

  test.each<[string, Asking, string]>([
    ["transfer to oneself", transfer(transferV1("alice", "alice")), "factory"],
    ["transfer that is approved", transfer(transferV1("alice", "carol")), "carol-approves"],
    ["transfer that is offered", transfer(transferV1("alice", "bob")), "factory"],
    ["allocation", allocation(allocationV1("alice", "bob")), "factory"],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), "factory"],
    ["mint or burn", issuance("issuanceFactory"), "factory"],
    ["burn and mint", issuance("burnMintFactory"), "factory"],
    ["choice", choosing("allocation/execute-transfer", "allocation"), "usd"],
  ])("all candidates are fetched together: %s", async (_what, asking, disclosed) => {
    expect(await onBoth(asking, both)).toEqual(answered(3));
    expect(await disclosedBy(asking, both)).toContain(disclosed);
  });
});

/** The ids of what an answer discloses. */
async function disclosedBy(asking: Asking, elements: readonly JsonObject[]): Promise<string[]> {
  const { disclosed } = (await asking(engineOn(await storeOf(elements)))) as ContextAnswer;
  return disclosed.map(({ contractId }) => contractId);
}

describe("a contract that comes late", () => {
  test("is looked for again in a reading of its own, after the wait", async () => {
    const store = await storeOf(registryOf());
    const reader = new FetchingReader(store);
    const waits: number[] = [];
    const executor = engineOn(reader, {
      staleReason: () => undefined,
      async catchUp(offset) {
        waits.push(offset);
        const decoder = new Decoder(registry.templates);
        const come = pending().map((one) => decoder.decode(one)?.contract);
        await store.apply(
          come.filter((contract) => contract !== undefined).map((active) => ({ active })),
          20,
        );
        return true;
      },
    });
    const answer = executor.execute((asked, context) =>
      asked.choiceContext(context, "transfer-instruction/accept", { registrar, contractId: "transfer-instruction" }),
    );
    expect((await answer).disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([10]);
    expect(reader.trips).toEqual([1, 3]);
  });

  test("that is known to be archived is not waited for, and takes no round trip more", async () => {
    const store = await storeOf(whole);
    await store.apply([{ archived: "transfer-instruction" }], 11);
    const reader = new FetchingReader(store);
    const executor = engineOn(reader, { ...still, catchUp: () => Promise.reject(new Error("it was waited")) });
    const outcome = await outcomeOf(() => choosing("transfer-instruction/accept", "transfer-instruction")(executor));
    expect(outcome).toMatchObject({ reason: "not-found" });
    expect(reader.trips).toEqual([1]);
  });
});

async function reading<T>(use: (view: View) => T): Promise<{ readonly made: T; readonly trips: readonly number[] }> {
  const reader = new FetchingReader(await storeOf(whole));
  return { made: await reader.read(use), trips: reader.trips };
}

/** Catches what it should let pass. */
const careless: Asking = (executor) =>
  executor.execute((_asked, { view }) => {
    try {
      return view.byId(transferOffer, "transfer-instruction")?.contractId;
    } catch {
      throw notFound("it is not there");
    }
  });

describe("the reader that counts", () => {
  const ids = ["transfer-instruction", "to-dave", "in-gbp", "00ff"];
  const found = ["transfer-instruction", "to-dave", "in-gbp", undefined];
  const questions = ids.map((contractId) => ({ template: transferOffer as Template, contractId }));

  test.each<[string, number, number]>([
    ["one for each lookup where nothing was foreseen", 0, 4],
    ["one for what was foreseen, and one for each of the others", 2, 3],
    ["one for all where they were foreseen", 4, 1],
  ])("takes %s", async (_what, foreseen, trips) => {
    const seen = await reading((view) => {
      view.prefetch(() => questions.slice(0, foreseen));
      return ids.map((id) => view.byId(transferOffer, id)?.contractId);
    });
    expect(seen).toEqual({ made: found, trips: [trips] });
  });

  test("takes none for what looks for nothing, and one for what looks for the same twice", async () => {
    expect(await reading(({ offset, asOf }) => [offset, asOf])).toEqual({ made: [10, 1_000_000], trips: [0] });
    expect(
      (await reading((view) => [view.byId(transferOffer, "00ff"), view.byId(transferOffer, "00ff")])).trips,
    ).toEqual([1]);
  });

  test("ends a reading that looks for something new in every run", async () => {
    let runs = 0;
    const reader = new FetchingReader(await storeOf(whole));
    const endless = reader.read((view) => view.byId(transferOffer, `contract-${++runs}`));
    await expect(endless).rejects.toThrow("a reading has not ended after 20 runs");
  });

  test("shows where a question catches what it should let pass", async () => {
    await expect(onBoth(careless)).rejects.toThrow("to deeply equal");
  });
});
