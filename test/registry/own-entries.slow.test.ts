/**
 * Whatever the contexts file or a module adds to an operation: the answer is the same on a store in memory, on a store
 * that forgets, and on a database, and takes at most five round trips.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import { indexKey, type Template } from "../../src/domain/template.js";
import { RegistryError } from "../../src/domain/errors.js";
import { alreadyCaughtUp, type Freshness } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { JsonReader } from "../../src/registry/sdk/json-reader.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import type { Choice, IssuanceChoice, IssuanceInstruction, Registry } from "../../src/registry/sdk/registry.js";
import { compileContexts } from "../../src/registry/utility/contexts.js";
import type { UtilityExtension } from "../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import type { TableFields } from "../../src/registry/engine/templates.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { StoreReader } from "../../src/store/port.js";
import { Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { elementOf } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { ForgetfulReader, half } from "../fixtures/forgetful-reader.js";
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { registryWithInstructions } from "../fixtures/utility-calls.js";

const MAX_ROUND_TRIPS = 5;
const { provider, registrar } = parties;
const now = Date.parse("2026-06-01T00:00:00Z");

const finders: Readonly<Record<string, JsonObject>> = {
  registrar: { find: [{ field: "registrar", is: "registrar" }], value: "contract-id" },
  provider: { find: [{ field: "provider", is: "provider" }], value: "contract-id" },
  instrument: { find: [{ field: "instrument", is: "instrument" }], value: "contract-id" },
  "instrument-list": { find: [{ field: "instrument", is: "instrument" }], value: "list" },
  sender: { find: [{ field: "owner", is: "sender" }], value: "contract-id" },
  receiver: { find: [{ field: "owner", is: "receiver" }], value: "list" },
  "holder-map": { find: [{ field: "owner", is: "holder" }], value: "map-by-party" },
  "party-map": { find: [{ field: "owner", is: "party" }], value: "map-by-party" },
  "party-prefix": { find: [{ field: "prefix", is: "party", prefix: 1 }], value: "list" },
  "provider-and-party": {
    find: [
      { field: "provider", is: "provider" },
      { field: "owner", is: "party" },
    ],
    value: "list",
  },
};
const entries: JsonObject = Object.fromEntries(
  Object.entries(finders).map(([name, finder]) => [
    name,
    { template: { package: "own", name: "Own:Document" }, ...finder },
  ]),
);
const names = Object.keys(finders);
const document = (id: string, fields: JsonObject): JsonObject => elementOf("own#Own:Document", id, fields);

/** A module with an entry, and with allocations of several legs. */
const licence: Template<null> = {
  packageName: "module",
  qualifiedName: "Module:Licence",
  revision: "1",
  parse: (arguments_) => ({ fields: null, indexKeys: [licenceKey(new JsonReader(arguments_, "").id("registrar"))] }),
};
const licenceKey = (party: string) => indexKey("licence", party);
const multiLeg: Template<TableFields> = {
  packageName: "module",
  qualifiedName: "Module:MultiLegAllocation",
  revision: "1",
  parse: () => ({
    fields: {
      registrar,
      instruments: ["USD", "EUR", "GBP"],
      roles: { sender: ["alice"] },
      refs: { locked: ["locked", "locked-2", "locked-3"] },
    },
    indexKeys: [],
  }),
};
const extension: UtilityExtension = {
  templates: [licence],
  allocations: [multiLeg],
  entries: {
    licence: {
      value(builder, selector, _inputs, required) {
        const candidates = selector.view.byKey(licence, licenceKey(selector.registrar));
        const found = selector.newest(candidates) ?? selector.missing(candidates, required, "the licence");
        return found === undefined ? undefined : builder.reference(found);
      },
    },
  },
};

/** Holders of USD need a credential, and it checks a blocklist. An allocation names no provider. */
const configuration = element(
  "InstrumentConfiguration",
  "usd",
  payload.configuration("USD", { holderRequirements: [requirement(["holds=USD"])], checkBlocklist: true }),
);
const elements = [
  ...registryWithInstructions({ configuration }),
  // A preapproval that is not used, because nothing else is on its synchronizer.
  element("TransferPreapproval", "dave-approves", payload.preapproval("dave", ["USD"]), { synchronizerId: "sync-B" }),
  ...["EUR", "GBP"].map((id) => element("InstrumentConfiguration", id, payload.configuration(id))),
  ...["locked-2", "locked-3"].map((id) => element("Holding", id, payload.lockedHolding("alice", "EUR"))),
  elementOf("module#Module:Licence", "licence", { registrar }),
  elementOf("module#Module:MultiLegAllocation", "multi-leg", {}),
  document("of-registrar", { registrar }),
  document("of-provider", { provider }),
  document("of-usd", { instrument: "USD" }),
  ...["alice", "bob", "carol"].map((owner) => document(`of-${owner}`, { owner, provider, prefix: owner.slice(0, 1) })),
];

type Execution = (registry: Registry, context: Parameters<Registry["transferFactory"]>[0]) => unknown;
const argumentsOf = (body: JsonObject) => ({ registrar, choiceArguments: body["choiceArguments"] as JsonObject });
const transfer =
  (sender: string, receiver: string): Execution =>
  (served, context) =>
    served.transferFactory(context, argumentsOf(transferV1(sender, receiver)));
const choices: readonly Choice[] = [
  "transfer-instruction/accept",
  "transfer-instruction/reject",
  "transfer-instruction/withdraw",
  "allocation/execute-transfer",
  "allocation/withdraw",
  "allocation/cancel",
];
const instructions: readonly IssuanceInstruction[] = ["mint-offer", "mint-request", "burn-offer", "burn-request"];
const issuanceChoices = instructions.flatMap((one) =>
  (["accept", "reject", "cancel"] as const).map((name): IssuanceChoice => `${one}/${name}`),
);
const contractOf = (choice: string) => (choice.startsWith("transfer") ? "offer" : (choice.split("/")[0] ?? ""));

const executions: Readonly<Record<string, Execution>> = {
  "transfer-factory/offer": transfer("alice", "bob"),
  "transfer-factory/offer, with a preapproval elsewhere": transfer("alice", "dave"),
  "transfer-factory/direct": transfer("alice", "carol"),
  "transfer-factory/self": transfer("alice", "alice"),
  "allocation-factory": (served, context) =>
    served.allocationFactory(context, argumentsOf(allocationV1("alice", "bob"))),
  "settlement-factory": (served, context) =>
    served.settlementFactory(
      context,
      argumentsOf(settlement([leg(account("alice"), account("bob"), "USD")], ["allocation"])),
    ),
  "settlement-factory, several legs": (served, context) =>
    served.settlementFactory(
      context,
      argumentsOf(
        settlement(
          ["USD", "EUR"].map((id) => leg(account("alice"), account("bob"), id)),
          ["allocation", "multi-leg"],
        ),
      ),
    ),
  ...Object.fromEntries(
    (["execute-transfer", "withdraw", "cancel"] as const).map((choice): [string, Execution] => [
      `allocation/${choice}, several legs`,
      (served, context) =>
        served.choiceContext(context, `allocation/${choice}`, { registrar, contractId: "multi-leg" }),
    ]),
  ),
  "burn-mint-factory": (served, context) =>
    served.utility?.burnMintFactory(context, { registrar, instrumentId: "USD", holders: ["alice", "bob"] }),
  ...Object.fromEntries(
    instructions.map((one): [string, Execution] => [
      `${one}/create`,
      (served, context) =>
        served.utility?.issuanceFactory(context, one, { registrar, instrumentId: "USD", holders: ["alice"] }),
    ]),
  ),
  ...Object.fromEntries(
    choices.map((choice): [string, Execution] => [
      choice,
      (served, context) => served.choiceContext(context, choice, { registrar, contractId: contractOf(choice) }),
    ]),
  ),
  ...Object.fromEntries(
    issuanceChoices.map((choice): [string, Execution] => [
      choice,
      (served, context) =>
        served.utility?.issuanceContext(context, choice, { registrar: undefined, contractId: contractOf(choice) }),
    ]),
  ),
};

const current: Freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
const clock = () => performance.now();

/** The answer or the error, as plain JSON without what stores keep with contracts. */
async function outcomeOf(registry: Registry, reader: StoreReader, execution: Execution): Promise<unknown> {
  const executor = new QueryExecutor(registry, reader, current, () => now);
  try {
    const { value: answer } = await executor.execute(execution);
    return JSON.parse(
      JSON.stringify(answer, (name, value: unknown) => {
        if (name === "slots") return undefined;
        return typeof value === "bigint" ? value.toString() : value;
      }),
    );
  } catch (error) {
    if (error instanceof RegistryError) return { reason: error.reason, message: error.message };
    throw error;
  }
}

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
  const { templates } = utilityRegistry({
    settlementLimits: MIN_SETTLEMENT_LIMITS,
    contexts: compileContexts({ entries }, extension),
  });
  const written = { contentId: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(schema.database, 0, written, (error) => {
    throw error;
  });
  await writer.replace(contractsOf(templates), 10, 1_000_000);
});
afterAll(() => schema.drop());

function contractsOf(templates: Registry["templates"]): (Contract | CountedOnly)[] {
  const decoder = new Decoder(templates, false);
  return elements.flatMap((one) => decoder.decode(one)?.contract ?? []);
}

/** Every built-in line. */
const removal: JsonObject = {
  remove: [
    "instrument-configuration",
    "instrument-configurations",
    "transfer-rule",
    "enable-result-contracts",
    "sender-credentials",
    "receiver-credentials",
    "issuer-credentials",
    "holder-credentials",
    "factory",
    "locked-holding",
    "allocations",
    "allocation-holdings",
  ],
};
const app = { package: "utility-registry-app-v0", from: "0.1.0" };

/** Changes of the file, beside lines for the blocklist, without which nothing is answered. */
const cases: readonly (readonly [string, readonly JsonObject[]])[] = [
  ...names.flatMap((name): (readonly [string, readonly JsonObject[]])[] => [
    [`entry ${name}`, [{ add: [{ entry: name }, { disclosure: "registrar", when: "checkBlocklist" }] }]],
    [
      `entry ${name}, required`,
      [
        {
          add: [
            { entry: name, required: true },
            { disclosure: "registrar", when: "checkBlocklist" },
          ],
        },
      ],
    ],
    [`entry ${name}, with a blocklist`, [{ add: [{ entry: name, when: "checkBlocklist" }] }]],
    [
      `entry ${name}, of a package`,
      [
        {
          add: [
            { entry: name, when: app },
            { disclosure: "registrar", when: "checkBlocklist" },
          ],
        },
      ],
    ],
    [`disclosure ${name}, with a blocklist`, [{ add: [{ disclosure: name, when: "checkBlocklist" }] }]],
    // Reject, withdraw and cancel alone are answered.
    [`entry ${name}, without a blocklist`, [{ add: [{ entry: name }] }]],
    [`entry ${name} alone`, [removal, { add: [{ entry: name }] }]],
    [`entry ${name} alone, with a blocklist`, [removal, { add: [{ entry: name, when: "checkBlocklist" }] }]],
    [`entry ${name} alone, of several instruments`, [removal, { add: [{ entry: name, when: "severalInstruments" }] }]],
    [
      `entry ${name} in offers alone`,
      [
        { operations: ["transfer-factory/offer"], add: [{ entry: name }] },
        { add: [{ disclosure: "registrar", when: "checkBlocklist" }] },
      ],
    ],
  ]),
  [
    "the entry of a module",
    [
      {
        add: [
          { entry: "licence", required: true },
          { disclosure: "registrar", when: "checkBlocklist" },
        ],
      },
    ],
  ],
  ["the entry of a module, with a blocklist", [{ add: [{ entry: "licence", when: "checkBlocklist" }] }]],
  ["rewards", [{ rewards: true, when: "checkBlocklist" }]],
  ["rewards alone", [removal, { rewards: true }, { add: [{ disclosure: "registrar", when: "checkBlocklist" }] }]],
  ["rewards alone, with a blocklist", [removal, { rewards: true, when: "checkBlocklist" }]],
  [
    "rewards of those who leave",
    [{ operations: ["allocation/withdraw", "allocation/cancel"], add: [{ entry: "app-reward-configuration" }] }],
  ],
  [
    "a right of those who leave",
    [{ operations: ["allocation/withdraw", "allocation/cancel"], add: [{ entry: "featured-app-right" }] }],
  ],
  [
    "credentials required",
    [{ credentials: "required" }, { add: [{ disclosure: "registrar", when: "checkBlocklist" }] }],
  ],
];

describe.each(cases)("%s", (_title, changes) => {
  const contexts = compileContexts({ entries, changes }, extension);
  const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS, contexts });

  test("gives one answer on each store, in at most five round trips", async () => {
    const store = new MemoryStore();
    await store.replace(contractsOf(registry.templates), 10, 1_000_000);
    const { database } = schema;
    const replica = new Replica(database, { templates: registry.templates, contentId: "tests", cacheBytes: 0, clock });
    await replica.refresh();
    const { templates } = registry;
    const forgetful = new ForgetfulReader(store, { templates, registrars: [registrar], remembers: half(7) });
    for (const [operation, execution] of Object.entries(executions)) {
      const answer = await outcomeOf(registry, store, execution);
      const reader = new ForgetfulReader(store, { templates, registrars: [registrar] });
      const fetched = await outcomeOf(registry, reader, execution);
      const ofForgetful = await outcomeOf(registry, forgetful, execution);
      const queries = vi.spyOn(database, "query");
      const ofDatabase = await outcomeOf(registry, replica, execution);
      const queried = queries.mock.calls.length;
      queries.mockRestore();
      expect({ operation, fetched, ofForgetful, ofDatabase }).toEqual({
        operation,
        fetched: answer,
        ofForgetful: answer,
        ofDatabase: answer,
      });
      const tooMany = [...reader.trips, queried / reader.trips.length].filter((trips) => trips > MAX_ROUND_TRIPS);
      expect({ operation, tooMany }).toEqual({ operation, tooMany: [] });
    }
  });
});

test("the cases answer with contracts of the operator", async () => {
  const contexts = compileContexts(
    {
      entries,
      changes: [{ add: names.map((entry) => ({ entry, when: "checkBlocklist" })) }],
    },
    extension,
  );
  const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS, contexts });
  const store = new MemoryStore();
  await store.replace(contractsOf(registry.templates), 10, 1_000_000);
  for (const [operation, execution] of Object.entries(executions)) {
    const answer = JSON.stringify(await outcomeOf(registry, store, execution));
    const found = ["of-registrar", "of-usd", "of-alice"].filter((id) => answer.includes(`"${id}"`));
    expect({ operation, found }).toEqual({ operation, found: ["of-registrar", "of-usd", "of-alice"] });
  }
});
