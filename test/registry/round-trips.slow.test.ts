/**
 * Every operation of the Registry Utility gives the same answer on a store in memory, on a store that fetches, and on a
 * database, and takes at most three round trips, regardless of the size of the request.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { InstrumentDirectory } from "../../src/registry/instrument-directory.js";
import { alreadyCaughtUp, type CatchUpProgress, type Freshness } from "../../src/domain/freshness.js"
import type { Answer } from "../../src/registry/basis.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { notFound, type RegistryErrorReason, RegistryError } from "../../src/domain/errors.js";
import type {
  Choice,
  ContextAnswer,
  FactoryQuery,
  InstrumentQuery,
  IssuanceChoice,
  IssuanceQuery,
  Registry,
} from "../../src/registry/sdk/registry.js";
import { compileContexts } from "../../src/registry/utility/contexts/contexts.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/operations/settlement-limits.js";
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
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { registryOf } from "../fixtures/registries.js";

/** The limit for every operation. */
const MAX_ROUND_TRIPS = 3;

/** The worst case that every registry has to support. */
const settlementLimits = MIN_SETTLEMENT_LIMITS;
const registry = utilityRegistry({ settlementLimits });
/** With the changes of a contexts file. All share their templates. */
const changed = (change: JsonObject): Registry =>
  utilityRegistry({ settlementLimits, contexts: compileContexts({ changes: [change] }) });
const rewarding = changed({ rewards: true });
const strict = changed({ credentials: "required" });
const registrar: string = parties.registrar;
const stranger = "stranger::1220";
const now = Date.parse("2026-06-01T00:00:00Z");

/** Holders of USD need `holds=USD`; issuers need `issues=USD` from another issuer. */
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

/** One instruction per template, whose id is the prefix of its choices, and the locked holding. */
const pending = (options: Options = {}): JsonObject[] => [
  element("TransferOffer", "transfer-instruction", payload.offer("alice", "bob", "USD", "locked"), options),
  element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked"), options),
  element("MintOffer", "mint-offer", payload.mint("alice", "USD"), options),
  element("MintRequest", "mint-request", payload.mint("alice", "USD"), options),
  element("BurnOffer", "burn-offer", payload.burn("alice", "USD"), options),
  element("BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" }), options),
  element("Holding", "locked", payload.lockedHolding("alice", "USD"), options),
];

/** Everything that the operations need. carol has a preapproval, dave has no credential. */
const complete = registryOf(
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

/** The cases use one database, one after the other. */
let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const clock = () => performance.now();

/** A replica without a cache, of a database with these contracts. */
async function replicaOf(elements: readonly JsonObject[]): Promise<Replica> {
  const { database } = schema;
  const written = { contentId: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(database, 0, written, (error) => {
    throw error;
  });
  await writer.replace(contractsOf(elements), 10, 1_000_000);
  const replica = new Replica(database, { templates: registry.templates, contentId: "tests", cacheBytes: 0, clock });
  await replica.refresh();
  return replica;
}

const current: Freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
const executorOn = (reader: StoreReader, { freshness = current, of = registry } = {}): QueryExecutor =>
  new QueryExecutor(of, reader, freshness, () => now);

/** Returns a value or a promise, as the executor does. */
type Execution = (executor: QueryExecutor) => Answer<unknown> | Promise<Answer<unknown>>;

/** The answer or the RegistryError; rethrows any other error. */
async function outcomeOf(
  execution: () => ReturnType<Execution>,
): Promise<{ readonly answer: unknown } | { reason: RegistryErrorReason; message: string }> {
  try {
    return { answer: withoutSlots((await execution()).value) };
  } catch (error) {
    if (error instanceof RegistryError) return { reason: error.reason, message: error.message };
    throw error;
  }
}

/** The answer as plain JSON, without the slots that each store fills differently. */
const withoutSlots = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (name === "slots") return undefined;
      return typeof value === "bigint" ? value.toString() : value;
    }),
  );

interface Outcome {
  /** The reason of the RegistryError, or "answered". */
  readonly outcome: RegistryErrorReason | "answered";
  readonly trips: readonly number[];
}

/**
 * Executes a query on all three stores, checks that the answers are equal, and returns the outcome with the round
 * trips of each read. A store that ignores prefetches has to give the same answer, in any number of round trips.
 */
async function onAllStores(
  execution: Execution,
  elements: readonly JsonObject[] = complete,
  of = registry,
): Promise<Outcome> {
  const store = await storeOf(elements);
  const reader = new FetchingReader(store);
  const inMemory = await outcomeOf(() => execution(executorOn(store, { of })));
  const fetched = await outcomeOf(() => execution(executorOn(reader, { of })));
  expect(fetched).toEqual(inMemory);
  const withoutPrefetch = new FetchingReader(store, { prefetches: false, maxRuns: 500 });
  expect(await outcomeOf(() => execution(executorOn(withoutPrefetch, { of })))).toEqual(inMemory);
  for (const trips of reader.trips) expect(trips).toBeLessThanOrEqual(MAX_ROUND_TRIPS);
  const replica = await replicaOf(elements);
  const queries = vi.spyOn(schema.database, "query");
  try {
    expect(await outcomeOf(() => execution(executorOn(replica, { of })))).toEqual(inMemory);
    expect(queries.mock.calls.length).toBeLessThanOrEqual(MAX_ROUND_TRIPS * reader.trips.length);
  } finally {
    queries.mockRestore();
  }
  return { outcome: "reason" in inMemory ? inMemory.reason : "answered", trips: reader.trips };
}

/** The outcome of a query that was executed once. */
const answered = (trips: number): Outcome => ({ outcome: "answered", trips: [trips] });
const failed = (outcome: RegistryErrorReason, trips: number): Outcome => ({ outcome, trips: [trips] });

const factoryOf = (body: JsonObject, of = registrar): FactoryQuery => ({
  registrar: of,
  choiceArguments: body["choiceArguments"] as JsonObject,
});
const transfer =
  (body: JsonObject, of?: string): Execution =>
  (executor) =>
    executor.execute((served, context) => served.transferFactory(context, factoryOf(body, of)));
const allocation =
  (body: JsonObject, of?: string): Execution =>
  (executor) =>
    executor.execute((served, context) => served.allocationFactory(context, factoryOf(body, of)));
const settling =
  (body: JsonObject, of?: string): Execution =>
  (executor) =>
    executor.execute((served, context) => served.settlementFactory(context, factoryOf(body, of)));
const choosing =
  (choice: Choice, contractId: string, path: { readonly registrar: string | undefined } = { registrar }): Execution =>
  (executor) =>
    executor.execute((served, context) => served.choiceContext(context, choice, { ...path, contractId }));
const issuing =
  (choice: IssuanceChoice, contractId: string): Execution =>
  (executor) =>
    executor.executeUtility((served, context) =>
      served.issuanceContext(context, choice, { registrar: undefined, contractId }),
    );
const issuanceQuery = (more: Partial<IssuanceQuery>): IssuanceQuery => ({
  registrar,
  instrumentId: "USD",
  holders: ["alice", "bob"],
  ...more,
});
const creation =
  (query: Partial<IssuanceQuery> = {}): Execution =>
  (executor) =>
    executor.executeUtility((served, context) => served.issuanceFactory(context, "mint-request", issuanceQuery(query)));
const burnMint =
  (query: Partial<IssuanceQuery> = {}): Execution =>
  (executor) =>
    executor.executeUtility((served, context) => served.burnMintFactory(context, issuanceQuery(query)));
const configured =
  (identifier: InstrumentQuery["identifier"], of = registrar): Execution =>
  (executor) =>
    executor.executeUtility((served, context) =>
      served.instrumentConfiguration(context, { registrar: of, identifier }),
    );

const page =
  (of: string): Execution =>
  (executor) =>
    new InstrumentDirectory(executor, new Map(), true).page(of);

const contractOf = (choice: string): string => choice.split("/", 1)[0] ?? "";

describe("a choice", () => {
  /** Choices that leave need no credentials, so they need no lookups by configuration. An empty context needs none. */
  const [acceptTrips, exitTrips, emptyTrips] = [3, 2, 1];
  const choices: Record<Choice, Outcome> = {
    "transfer-instruction/accept": answered(acceptTrips),
    "transfer-instruction/reject": answered(exitTrips),
    "transfer-instruction/withdraw": answered(exitTrips),
    "allocation/execute-transfer": answered(acceptTrips),
    "allocation/withdraw": answered(exitTrips),
    "allocation/cancel": answered(exitTrips),
    // The lookup of the factory is enough to reject them.
    "allocation-instruction/accept": failed("invalid", 1),
    "allocation-instruction/withdraw": failed("invalid", 1),
  };
  const issuanceChoices: Record<IssuanceChoice, Outcome> = {
    "mint-offer/accept": answered(acceptTrips),
    "mint-offer/reject": answered(exitTrips),
    "mint-offer/cancel": answered(emptyTrips),
    "mint-request/accept": answered(acceptTrips),
    "mint-request/reject": answered(exitTrips),
    "mint-request/cancel": answered(emptyTrips),
    "burn-offer/accept": answered(acceptTrips),
    "burn-offer/reject": answered(exitTrips),
    "burn-offer/cancel": answered(emptyTrips),
    "burn-request/accept": answered(acceptTrips),
    "burn-request/reject": answered(exitTrips),
    // The locked holding.
    "burn-request/cancel": answered(exitTrips),
  };
  const all: [string, (contractId: string) => Execution, Outcome][] = [
    ...(Object.entries(choices) as [Choice, Outcome][]).map(([choice, outcome]): (typeof all)[number] => [
      choice,
      (contractId) => choosing(choice, contractId),
      outcome,
    ]),
    ...(Object.entries(issuanceChoices) as [IssuanceChoice, Outcome][]).map(
      ([choice, outcome]): (typeof all)[number] => [choice, (contractId) => issuing(choice, contractId), outcome],
    ),
  ];
  /** Allocation instructions are rejected before their contract is looked up. */
  const onContracts = all.filter(([choice]) => contractOf(choice) !== "allocation-instruction");

  test.each(all)("%s", async (choice, execution, outcome) => {
    expect(await onAllStores(execution(contractOf(choice)))).toEqual(outcome);
  });

  /** With a registrar in the path, a second one finds out whether the registrar is served, which the message says. */
  const missTrips = (choice: string): number => (choice in choices ? 2 : 1);

  test.each(onContracts)("%s on an unknown contract", async (choice, execution) => {
    expect(await onAllStores(execution("00ff"))).toEqual(failed("not-found", missTrips(choice)));
  });

  test.each(onContracts)("%s on a contract of another template", async (choice, execution) => {
    expect(await onAllStores(execution("locked"))).toEqual(failed("not-found", missTrips(choice)));
  });

  test.each(onContracts)("%s on a contract in reassignment", async (choice, execution) => {
    const moving = registryOf({}, ...pending({ moving: "unassigned" }));
    expect(await onAllStores(execution(contractOf(choice)), moving)).toEqual(failed("conflict", 1));
  });

  // Without a configuration there is no second round of lookups.
  test.each(onContracts)("%s if only the contract exists", async (choice, execution, expected) => {
    const isExit = expected.trips[0] !== acceptTrips;
    const outcome = isExit ? expected : failed("not-found", 2);
    expect(await onAllStores(execution(contractOf(choice)), pending().slice(0, -1))).toEqual(outcome);
  });

  test.each(onContracts)("%s with the reward entries", async (choice, execution, expected) => {
    expect(await onAllStores(execution(contractOf(choice)), complete, rewarding)).toEqual(expected);
  });

  test.each(onContracts)(
    "%s with the reward entries, if only the contract exists",
    async (choice, execution, expected) => {
      const isExit = expected.trips[0] !== acceptTrips;
      // The rewards are those of the provider. The allocation names none.
      const outcome = isExit ? expected : failed("not-found", contractOf(choice) === "allocation" ? 2 : 3);
      expect(await onAllStores(execution(contractOf(choice)), pending().slice(0, -1), rewarding)).toEqual(outcome);
    },
  );

  test("without a registrar in the path", async () => {
    expect(
      await onAllStores(choosing("transfer-instruction/accept", "transfer-instruction", { registrar: undefined })),
    ).toEqual(answered(3));
  });

  test("on a contract of another registrar", async () => {
    const execution = choosing("transfer-instruction/accept", "transfer-instruction", { registrar: stranger });
    expect(await onAllStores(execution)).toEqual(failed("not-found", 2));
  });

  test("with a missing credential", async () => {
    const execution = choosing("transfer-instruction/accept", "to-dave");
    expect(await onAllStores(execution)).toEqual(answered(3));
    expect(await onAllStores(execution, complete, strict)).toEqual(failed("not-found", 3));
  });

  test("with an instrument without configuration", async () => {
    expect(await onAllStores(choosing("transfer-instruction/accept", "in-gbp"))).toEqual(failed("not-found", 2));
  });

  test("on an allocation instruction of a registrar that is not served", async () => {
    const execution = choosing("allocation-instruction/accept", "allocation", { registrar: stranger });
    expect(await onAllStores(execution)).toEqual(failed("not-found", 1));
  });
});

const [alice, bob, dave] = [account("alice"), account("bob"), account("dave")];
const usdOf = (admin: string): JsonObject => ({ instrumentId: { admin, id: "USD" } });
const gbp: JsonObject = { instrumentId: { admin: registrar, id: "GBP" } };
const allocated = allocationV2(alice, [legSide("SenderSide", "USD")]);
const [mint, burn] = [account(null, null, "cip-112/mint"), account(null, null, "cip-112/burn")];
const extended = replaced(
  replaced(
    settlement([leg(alice, bob, "USD")], ["allocation"]),
    "choiceArguments.allocations[0].extraTransferLegSides",
    [{ ...legSide("SenderSide", "USD"), otherside: account("carol") }],
  ),
  "choiceArguments.allocations[0].nextIterationFunding",
  { USD: "1.0" },
);

describe("a factory", () => {
  test.each<[string, Execution, Outcome]>([
    ["transfer to oneself, version 1", transfer(transferV1("alice", "alice")), answered(3)],
    ["transfer to oneself, version 2", transfer(transferV2(alice, alice)), answered(3)],
    ["direct transfer, version 1", transfer(transferV1("alice", "carol")), answered(3)],
    ["direct transfer, version 2", transfer(transferV2(alice, account("carol"))), answered(3)],
    ["offered transfer, version 1", transfer(transferV1("alice", "bob")), answered(3)],
    ["offered transfer, version 2", transfer(transferV2(alice, bob)), answered(3)],
    ["allocation, version 1", allocation(allocationV1("alice", "bob")), answered(3)],
    ["allocation, version 2, sender side", allocation(allocated), answered(3)],
    [
      "allocation, version 2, receiver side",
      allocation(allocationV2(alice, [legSide("ReceiverSide", "USD")])),
      answered(2),
    ],
    ["settlement of one leg", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), answered(3)],
    ["settlement without allocations", settling(settlement([leg(alice, bob, "USD")], [])), answered(3)],
    ["mint or burn", creation(), answered(3)],
    ["mint or burn without holders", creation({ holders: [] }), answered(2)],
    ["burn and mint", burnMint(), answered(3)],
    // The registrar needs credentials even then.
    ["burn and mint without outputs", burnMint({ holders: [] }), answered(3)],
    ["allocation without sides", allocation(allocationV2(alice, [])), answered(1)],
    // Of an offer only the sender's credentials are looked up.
    ["transfer from a special account", transfer(transferV2(mint, bob)), answered(2)],
    ["transfer to a special account", transfer(transferV2(alice, burn)), answered(3)],
    ["transfer by a party without credentials", transfer(transferV1("dave", "bob")), answered(3)],
    ["allocation by a party without credentials", allocation(allocationV1("dave", "bob")), answered(3)],
    [
      "settlement with a party without credentials",
      settling(settlement([leg(alice, dave, "USD")], ["allocation"])),
      answered(3),
    ],
    ["settlement with extra sides and funding", settling(extended), answered(3)],
    ["mint or burn without credentials", creation({ holders: ["alice", "dave"] }), answered(3)],
    ["burn and mint without credentials", burnMint({ holders: ["alice", "dave"] }), answered(3)],
  ])("for a %s", async (_what, execution, outcome) => {
    expect(await onAllStores(execution)).toEqual(outcome);
  });

  test.each<[string, Execution]>([
    ["transfer to oneself", transfer(transferV1("alice", "alice"))],
    ["direct transfer", transfer(transferV1("alice", "carol"))],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"]))],
    ["burn and mint", burnMint()],
  ])("with the reward entries, for a %s", async (_what, execution) => {
    expect(await onAllStores(execution, complete, rewarding)).toEqual(answered(3));
  });

  test.each<[string, Execution]>([
    ["transfer", transfer(transferV1("dave", "bob"))],
    ["allocation", allocation(allocationV1("dave", "bob"))],
    ["settlement", settling(settlement([leg(alice, dave, "USD")], ["allocation"]))],
    ["mint or burn", creation({ holders: ["alice", "dave"] })],
    ["burn and mint", burnMint({ holders: ["alice", "dave"] })],
  ])("fails with a missing credential if credentials are required: %s", async (_what, execution) => {
    expect(await onAllStores(execution, complete, strict)).toEqual(failed("not-found", 3));
  });

  test.each<[string, Execution]>([
    ["transfer", transfer(transferV1("alice", "bob"))],
    ["allocation", allocation(allocationV1("alice", "bob"))],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"]))],
    ["mint or burn", creation()],
    ["burn and mint", burnMint()],
  ])("fails for an instrument that checks a blocklist: %s", async (_what, execution) => {
    const checking = element("InstrumentConfiguration", "usd", { ...configuration, checkBlocklist: true });
    const elements = complete.map((one) => (JSON.stringify(one).includes('"contractId":"usd"') ? checking : one));
    expect((await onAllStores(execution, elements)).outcome).toBe("invalid");
  });

  test.each<[string, Execution, Outcome]>([
    [
      "transfer, of an unserved registrar",
      transfer(transferV2(alice, bob, usdOf(stranger)), stranger),
      failed("not-found", 1),
    ],
    [
      "transfer, of another registrar's instrument",
      transfer(transferV1("alice", "bob", usdOf(stranger))),
      failed("invalid", 0),
    ],
    ["transfer of an unknown instrument", transfer(transferV1("alice", "bob", gbp)), failed("not-found", 2)],
    [
      "allocation, of an unserved registrar",
      allocation(replaced(allocated, "choiceArguments.allocation.admin", stranger), stranger),
      failed("not-found", 1),
    ],
    ["allocation of an unknown instrument", allocation(allocationV1("alice", "bob", gbp)), failed("not-found", 2)],
    [
      "settlement, of an unserved registrar",
      settling(settlement([leg(alice, bob, "USD")], ["allocation"]), stranger),
      failed("not-found", 1),
    ],
    [
      "settlement of an unknown allocation",
      settling(settlement([leg(alice, bob, "USD")], ["allocation", "00ff"])),
      // As many as for one that succeeds: what else is missing is named too.
      failed("not-found", 3),
    ],
    [
      "settlement with too many legs",
      settling(
        settlement(
          Array.from({ length: 26 }, () => leg(alice, bob, "USD")),
          ["allocation"],
        ),
      ),
      failed("invalid", 0),
    ],
    ["mint or burn, of an unserved registrar", creation({ registrar: stranger }), failed("not-found", 1)],
    ["burn and mint, of an unserved registrar", burnMint({ registrar: stranger }), failed("not-found", 1)],
  ])("fails: %s", async (_what, execution, outcome) => {
    expect(await onAllStores(execution)).toEqual(outcome);
  });
});

describe("lists", () => {
  const instruments: Execution = (executor) =>
    executor.execute((served, context) => served.instruments(context, registrar));

  test.each<[string, Execution, Outcome]>([
    ["the instruments", instruments, answered(1)],
    ["a page of instruments with supply", page(registrar), answered(2)],
    ["a page of an unserved registrar", page(stranger), failed("not-found", 1)],
    ["an instrument configuration", configured({ source: registrar, id: "USD", scheme: "Internal" }), answered(1)],
    [
      "an instrument configuration by an additional identifier",
      configured({ source: "ISO", id: "840", scheme: "Number" }),
      answered(1),
    ],
    [
      "the configuration of an unknown instrument",
      configured({ source: registrar, id: "GBP", scheme: "Internal" }),
      failed("not-found", 1),
    ],
    [
      "an instrument configuration of another registrar",
      configured({ source: registrar, id: "USD", scheme: "Internal" }, stranger),
      failed("not-found", 1),
    ],
    [
      "all configurations",
      (executor) => executor.executeUtility((served, context) => served.instrumentConfigurations(context)),
      answered(1),
    ],
    ["the operator", (executor) => executor.executeUtility((served, context) => served.operator(context)), answered(1)],
  ])("%s", async (_what, execution, outcome) => {
    expect(await onAllStores(execution)).toEqual(outcome);
  });

  test("the inventory, which may take any number of round trips", async () => {
    const store = await storeOf(complete);
    const options = { now, credentialDays: 30 };
    const inMemory = store.read((view) => registry.inventory(view, options));
    const fetching = new FetchingReader(store, { maxRuns: 100 });
    expect(await fetching.read((view) => registry.inventory(view, options))).toEqual(inMemory);
    expect(inMemory.registrars).toHaveLength(1);
  });
});

const partyOf = (side: string, index: number) => `${side}-${index}`;
const accountOf = (side: string, index: number) => account(partyOf(side, index), `provider-of-${partyOf(side, index)}`);
/** The largest settlement: each leg has its own instrument and credential issuer. */
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

  test("takes as many round trips as the smallest", async () => {
    expect(await onAllStores(settling(body), elements)).toEqual(answered(3));
  });

  test("has a complete answer", async () => {
    const executor = executorOn(new FetchingReader(await storeOf(elements)));
    const { value: answer } = await executor.execute((served, context) =>
      served.settlementFactory(context, factoryOf(body)),
    );
    // Factory and rule; one configuration per leg; credential, allocation and holding per side.
    expect(answer.disclosed).toHaveLength(2 + 25 + 3 * 50);
  });

  test("has a complete answer with the reward entries", async () => {
    const executor = executorOn(new FetchingReader(await storeOf(elements)), { of: rewarding });
    const { value: answer } = await executor.execute((served, context) =>
      served.settlementFactory(context, factoryOf(body)),
    );
    expect(answer.disclosed).toHaveLength(4 + 25 + 3 * 50);
    expect(await onAllStores(settling(body), elements, rewarding)).toEqual(answered(3));
  });

  test("fails if the last credential is missing and credentials are required", async () => {
    const lacking = elements.filter((one) => !JSON.stringify(one).includes('"receiver-24-holds"'));
    expect(lacking).toHaveLength(elements.length - 1);
    expect(await onAllStores(settling(body), lacking)).toEqual(answered(3));
    expect(await onAllStores(settling(body), lacking, strict)).toEqual(failed("not-found", 3));
  });
});

/** A registry whose configuration and factory name different providers. */
describe("with different providers of factory and configuration", () => {
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

  test.each<[string, Execution, string]>([
    ["transfer that is approved", transfer(transferV1("alice", "bob")), "own-reward"],
    ["allocation to execute", choosing("allocation/execute-transfer", "allocation"), "own-reward"],
    ["transfer to oneself", transfer(transferV1("alice", "alice")), "reward"],
    ["transfer to accept", choosing("transfer-instruction/accept", "transfer-instruction"), "reward"],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), "reward"],
    ["burn and mint", burnMint(), "reward"],
  ])("its rewards are fetched with the credentials where they count: %s", async (_what, execution, reward) => {
    expect(await onAllStores(execution, elements, rewarding)).toEqual(answered(3));
    expect(await disclosedBy(execution, elements, rewarding)).toContain(reward);
  });
});

/** A second synchronizer with its own contracts, which name other issuers and providers. */
describe("with two synchronizers, the newer one incomplete", () => {
  const provider = "provider-B::1220";
  const newer: Options = { synchronizerId: "sync-B", createdAt: "2026-02-05T09:00:00.000000Z" };
  const needsOther = [requirement(["holds=USD"], "issuer-B::1220")];
  const both = [
    ...complete,
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

  test.each<[string, Execution, string]>([
    ["transfer to oneself", transfer(transferV1("alice", "alice")), "factory"],
    ["transfer that is approved", transfer(transferV1("alice", "carol")), "carol-approves"],
    ["settlement", settling(settlement([leg(alice, bob, "USD")], ["allocation"])), "factory"],
    ["choice", choosing("allocation/execute-transfer", "allocation"), "usd"],
    // These need no transfer rule, and no credentials unless they are required.
    ["transfer that is offered", transfer(transferV1("alice", "bob")), "factory-B"],
    ["allocation", allocation(allocationV1("alice", "bob")), "factory-B"],
    ["mint or burn", creation(), "factory-B"],
    ["burn and mint", burnMint(), "factory-B"],
  ])("all candidates are fetched together: %s", async (_what, execution, disclosed) => {
    for (const of of [registry, rewarding]) {
      expect(await onAllStores(execution, both, of)).toEqual(answered(3));
      expect(await disclosedBy(execution, both, of)).toContain(disclosed);
    }
  });

  test.each<[string, Execution]>([
    ["transfer that is offered", transfer(transferV1("alice", "bob"))],
    ["allocation", allocation(allocationV1("alice", "bob"))],
    ["mint or burn", creation()],
  ])("the older one is taken if credentials are required: %s", async (_what, execution) => {
    expect(await onAllStores(execution, both, strict)).toEqual(answered(3));
    expect(await disclosedBy(execution, both, strict)).toContain("factory");
  });
});

/** The ids of the disclosed contracts. */
async function disclosedBy(execution: Execution, elements: readonly JsonObject[], of: Registry): Promise<string[]> {
  const { value } = await execution(executorOn(await storeOf(elements), { of }));
  // Executions whose disclosures are asked for have such an answer.
  return (value as ContextAnswer).disclosed.map(({ contractId }) => contractId);
}

describe("a contract that arrives late", () => {
  test("is found by a second read after the wait", async () => {
    const store = await storeOf(registryOf());
    const reader = new FetchingReader(store);
    let waits = 0;
    const catchUp = async function* (): AsyncGenerator<CatchUpProgress> {
      waits++;
      const decoder = new Decoder(registry.templates);
      const come = pending().map((one) => decoder.decode(one)?.contract);
      await store.apply(
        come.filter((contract) => contract !== undefined).map((active) => ({ active })),
        20,
      );
      yield "advanced";
    };
    const executor = executorOn(reader, { freshness: { ...current, catchUp } });
    const answer = executor.execute((served, context) =>
      served.choiceContext(context, "transfer-instruction/accept", { registrar, contractId: "transfer-instruction" }),
    );
    expect((await answer).value.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toBe(1);
    expect(reader.trips).toEqual([2, 3]);
  });

  test("is not awaited if it is archived, and takes no more round trips", async () => {
    const store = await storeOf(complete);
    await store.apply([{ archived: "transfer-instruction" }], 11);
    const reader = new FetchingReader(store);
    const catchUp = () => {
      throw new Error("unexpected wait");
    };
    const unexpected: Freshness = { ...current, catchUp };
    const executor = executorOn(reader, { freshness: unexpected });
    const outcome = await outcomeOf(() => choosing("transfer-instruction/accept", "transfer-instruction")(executor));
    expect(outcome).toMatchObject({ reason: "not-found" });
    expect(reader.trips).toEqual([2]);
  });
});

async function reading<T>(use: (view: View) => T): Promise<{ readonly made: T; readonly trips: readonly number[] }> {
  const reader = new FetchingReader(await storeOf(complete));
  return { made: await reader.read(use), trips: reader.trips };
}

/** A query that wrongly catches the exceptions of the view. */
const careless: Execution = (executor) =>
  executor.execute((_registry, { view }) => {
    try {
      return view.byId(transferOffer, "transfer-instruction")?.contractId;
    } catch {
      throw notFound("missing");
    }
  });

describe("the counting reader", () => {
  const ids = ["transfer-instruction", "to-dave", "in-gbp", "00ff"];
  const found = ["transfer-instruction", "to-dave", "in-gbp", undefined];
  const lookups = ids.map((contractId) => ({ template: transferOffer as Template, contractId }));

  test.each<[string, number, number]>([
    ["one per lookup without prefetch", 0, 4],
    ["one for the prefetched lookups, and one per other lookup", 2, 3],
    ["one for all prefetched lookups", 4, 1],
  ])("takes %s", async (_what, prefetched, trips) => {
    const result = await reading((view) => {
      view.prefetch(() => lookups.slice(0, prefetched));
      return ids.map((id) => view.byId(transferOffer, id)?.contractId);
    });
    expect(result).toEqual({ made: found, trips: [trips] });
  });

  test("takes no round trip without lookups, and one for duplicate lookups", async () => {
    expect(await reading(({ offset, asOf }) => [offset, asOf])).toEqual({ made: [10, 1_000_000], trips: [0] });
    expect(
      (await reading((view) => [view.byId(transferOffer, "00ff"), view.byId(transferOffer, "00ff")])).trips,
    ).toEqual([1]);
  });

  test("ends a read that looks up something new in every run", async () => {
    let runs = 0;
    const reader = new FetchingReader(await storeOf(complete));
    const endless = reader.read((view) => view.byId(transferOffer, `contract-${++runs}`));
    await expect(endless).rejects.toThrow("a read has not ended after 20 runs");
  });

  test("detects a query that catches the view's exceptions", async () => {
    await expect(onAllStores(careless)).rejects.toThrow("to deeply equal");
  });
});
