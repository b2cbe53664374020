/** Whatever the contexts file or a module adds to an operation: the answer is the same in memory and through a database. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { RegistryError } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/domain/json.js";
import { indexKey, type Template } from "../../src/domain/template.js";
import type { TableFields } from "../../src/registry/engine/templates.js";
import { JsonReader } from "../../src/registry/sdk/json-reader.js";
import type {
  Choice,
  ContextAnswer,
  IssuanceInstruction,
  Registry,
  UtilityOperations,
} from "../../src/registry/sdk/registry.js";
import type { UtilityExtension } from "../../src/registry/utility/contexts.js";
import type { StoreReader } from "../../src/state/port.js";
import { PostgresWriter } from "../../src/state/postgres/writer.js";
import { elementOf, requireCredentials, rewardChanges } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { contractsOf, executorOn, storeOf, utilityWith } from "../fixtures/in-memory.js";
import { followerOf } from "../fixtures/follower.js";
import { freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { registryWithInstructions } from "../fixtures/utility-calls.js";

const { provider, registrar } = parties;

const templates = { document: { package: "own", name: "Own:Document" } };
const find = (field: string, is: string, value: string) => ({
  template: "document",
  find: { [field]: is },
  value,
  empty: true,
});
const entries: Readonly<Record<string, JsonObject>> = {
  registrar: find("registrar", "registrar", "contract-id"),
  provider: find("provider", "provider", "contract-id"),
  instrument: find("instrument", "instrument", "contract-id"),
  "instrument-list": find("instrument", "instrument", "list"),
  sender: find("owner", "sender", "contract-id"),
  receiver: find("owner", "receiver", "list"),
  "holder-map": find("owner", "holder", "map"),
  "party-map": find("owner", "party", "map"),
  "party-prefix": find("prefix", "start(party, 1)", "list"),
  "provider-and-party": {
    ...find("provider", "provider", "list"),
    find: { provider: "provider", owner: "party" },
  },
};
const names = Object.keys(entries);

/** A module with an entry, and with allocations of several legs. */
const moduleTemplate = <F>(entity: string, parse: Template<F>["parse"]): Template<F> => ({
  packageName: "module",
  qualifiedName: `Module:${entity}`,
  revision: "1",
  parse,
});
const licenceKey = (party: string) => indexKey("licence", party);
const licence = moduleTemplate<null>("Licence", (given) => ({
  fields: null,
  indexKeys: [licenceKey(new JsonReader(given, "").id("registrar"))],
}));
const multiLeg = moduleTemplate<TableFields>("MultiLegAllocation", () => ({
  fields: {
    registrar,
    instruments: ["USD", "EUR", "GBP"],
    roles: { sender: ["alice"] },
    refs: { locked: ["locked", "locked-2", "locked-3"] },
  },
  indexKeys: [],
}));
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
const usd = payload.configuration("USD", { holderRequirements: [requirement(["holds=USD"])], checkBlocklist: true });
const document = (id: string, fields: JsonObject): JsonObject => elementOf("own#Own:Document", id, fields);
const elements = [
  ...registryWithInstructions({ configuration: element("InstrumentConfiguration", "usd", usd) }),
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

type Context = Parameters<Registry["transferFactory"]>[0];
type Execution = (registry: Registry, context: Context) => unknown;
const named = (body: JsonObject) => ({ registrar, choiceArguments: body["choiceArguments"] as JsonObject });
const transfer =
  (sender: string, receiver: string): Execution =>
  (served, context) =>
    served.transferFactory(context, named(transferV1(sender, receiver)));
const settle = (instruments: readonly string[], ids: readonly string[]): Execution => {
  const legs = instruments.map((id) => leg(account("alice"), account("bob"), id));
  return (served, context) => served.settlementFactory(context, named(settlement(legs, ids)));
};
const choose =
  (choice: Choice, contractId: string): Execution =>
  (served, context) =>
    served.choiceContext(context, choice, { registrar, contractId });
const onUtility =
  (run: (utility: UtilityOperations, context: Context) => unknown): Execution =>
  ({ utility }, context) =>
    utility === undefined ? expect.fail("it has utility operations") : run(utility, context);

const instructions: readonly IssuanceInstruction[] = ["mint-offer", "mint-request", "burn-offer", "burn-request"];
const executions: ReadonlyMap<string, Execution> = new Map<string, Execution>([
  ["transfer-factory/offer", transfer("alice", "bob")],
  ["transfer-factory/offer, with a preapproval elsewhere", transfer("alice", "dave")],
  ["transfer-factory/direct", transfer("alice", "carol")],
  ["transfer-factory/self", transfer("alice", "alice")],
  ["allocation-factory", (served, context) => served.allocationFactory(context, named(allocationV1("alice", "bob")))],
  ["settlement-factory", settle(["USD"], ["allocation"])],
  ["settlement-factory, several legs", settle(["USD", "EUR"], ["allocation", "multi-leg"])],
  [
    "burn-mint-factory",
    onUtility((utility, context) =>
      utility.burnMintFactory(context, { registrar, instrumentId: "USD", holders: ["alice", "bob"] }),
    ),
  ],
  ...(["accept", "reject", "withdraw"] as const).map((name): [string, Execution] => [
    `transfer-instruction/${name}`,
    choose(`transfer-instruction/${name}`, "offer"),
  ]),
  ...(["execute-transfer", "withdraw", "cancel"] as const).flatMap((name) =>
    ["allocation", "multi-leg"].map((id): [string, Execution] => [
      `allocation/${name} of ${id}`,
      choose(`allocation/${name}`, id),
    ]),
  ),
  ...instructions.map((one): [string, Execution] => [
    `${one}/create`,
    onUtility((utility, context) =>
      utility.issuanceFactory(context, one, { registrar, instrumentId: "USD", holders: ["alice"] }),
    ),
  ]),
  ...instructions.flatMap((one) =>
    (["accept", "reject", "cancel"] as const).map((name): [string, Execution] => [
      `${one}/${name}`,
      onUtility((utility, context) =>
        utility.issuanceContext(context, `${one}/${name}`, { registrar: undefined, contractId: one }),
      ),
    ]),
  ),
]);

/** The answer or the error, as plain JSON without what stores keep with contracts. */
async function outcomeOf(registry: Registry, reader: StoreReader, execution: Execution): Promise<unknown> {
  try {
    const answer = await executorOn(reader, registry, Date.parse("2026-06-01T00:00:00Z")).execute(execution);
    const { value } = (await answer.takeBodies((given) => (given as ContextAnswer).disclosed))();
    const plain = (name: string, one: unknown) => {
      if (name === "encodings") return undefined;
      return typeof one === "bigint" ? one.toString() : one;
    };
    return JSON.parse(JSON.stringify(value, plain));
  } catch (error) {
    if (error instanceof RegistryError) return { reason: error.reason, message: error.message };
    throw error;
  }
}

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
  const written = { contentId: "tests", origin: "tests" };
  const writer = await PostgresWriter.begin(schema.database, 0, written, (error) => {
    throw error;
  });
  await writer.replace(contractsOf(elements, utilityWith({ templates, entries }, extension)), 10, 1_000_000);
});
afterAll(() => schema.drop());

/** Every built-in line. */
const configurations = [
  "instrument-configuration",
  "instrument-configurations",
  "transfer-rule",
  "enable-result-contracts",
];
const credentials = ["sender", "receiver", "issuer", "holder"].map((role) => `${role}-credentials`);
const disclosures = ["factory", "locked-holding", "allocations", "allocation-holdings", "no-blocklist"];
const removal: JsonObject = { remove: [...configurations, ...credentials, ...disclosures] };

const only = "check-blocklist";
const app = { package: "utility-registry-app-v0", from: "0.1.0" };
/** Without a line for the blocklist nothing is answered but reject, withdraw and cancel. */
const noBlocklist: JsonObject = { remove: ["no-blocklist"] };
const blocklist = { disclosure: "registrar", missing: "omit", if: only };
const adding = (...add: JsonObject[]): JsonObject => ({ add });
const leaving = { on: ["allocation/withdraw", "allocation/cancel"] };
const omitted = { missing: "omit" };

const ofEntry: Readonly<Record<string, (entry: string) => readonly JsonObject[]>> = {
  "": (entry) => [noBlocklist, adding({ entry, ...omitted }, blocklist)],
  ", required": (entry) => [noBlocklist, adding({ entry }, blocklist)],
  ", with a blocklist": (entry) => [noBlocklist, adding({ entry, ...omitted, if: only })],
  ", of a package": (entry) => [noBlocklist, adding({ entry, ...omitted, if: app }, blocklist)],
  " as a disclosure, with a blocklist": (entry) => [noBlocklist, adding({ disclosure: entry, ...omitted, if: only })],
  ", without a blocklist": (entry) => [adding({ entry, ...omitted })],
  " alone": (entry) => [removal, adding({ entry, ...omitted })],
  " alone, with a blocklist": (entry) => [removal, adding({ entry, ...omitted, if: only })],
  " alone, of several instruments": (entry) => [removal, adding({ entry, ...omitted, if: "several-instruments" })],
  " in offers alone": (entry) => [
    noBlocklist,
    { on: ["transfer-factory/offer"], add: [{ entry, ...omitted }] },
    adding(blocklist),
  ],
};
const cases: readonly (readonly [string, readonly JsonObject[]])[] = [
  ...names.flatMap((name) => Object.entries(ofEntry).map(([how, changes]) => [name + how, changes(name)] as const)),
  ["the entry of a module", [noBlocklist, adding({ entry: "licence" }, blocklist)]],
  ["the entry of a module, with a blocklist", [noBlocklist, adding({ entry: "licence", ...omitted, if: only })]],
  ["rewards", [noBlocklist, ...rewardChanges({ if: only })]],
  ["rewards alone", [removal, ...rewardChanges(), adding(blocklist)]],
  ["rewards alone, with a blocklist", [removal, ...rewardChanges({ if: only })]],
  ["rewards of those who leave", [{ ...leaving, add: [{ entry: "app-reward-configuration" }] }]],
  ["a right of those who leave", [{ ...leaving, add: [{ entry: "featured-app-right" }] }]],
  ["credentials required", [noBlocklist, requireCredentials, adding(blocklist)]],
];

test.each(cases)("%s: one answer in memory and through a database", async (_title, changes) => {
  const registry = utilityWith({ templates, entries, changes }, extension);
  const store = await storeOf(elements, registry);
  const follower = followerOf(schema.database, { templates: registry.templates });
  await follower.refresh();
  for (const [operation, execution] of executions) {
    const answer = await outcomeOf(registry, store, execution);
    expect({ operation, answer: await outcomeOf(registry, follower, execution) }).toEqual({ operation, answer });
  }
});

test("the cases answer with contracts of the operator", async () => {
  const changes = [noBlocklist, adding(...names.map((entry) => ({ entry, if: only })))];
  const registry = utilityWith({ templates, entries, changes }, extension);
  const store = await storeOf(elements, registry);
  const ids = ["of-registrar", "of-usd", "of-alice"];
  for (const [operation, execution] of executions) {
    const answer = JSON.stringify(await outcomeOf(registry, store, execution));
    expect({ operation, found: ids.filter((id) => answer.includes(`"${id}"`)) }).toEqual({ operation, found: ids });
  }
});
