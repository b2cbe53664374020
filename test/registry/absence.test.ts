/** Absence is no proof: what a table decides by a contract that is not found, in memory and through a database. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { StoredContract } from "../../src/domain/contract.js";
import { RegistryError } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/util/json.js";
import type { CatchUpProgress } from "../../src/domain/ledger.js";
import { Decoder } from "../../src/ledger/decode.js";
import { tableRegistry } from "../../src/registry/engine/table-registry.js";
import { QueryExecutor } from "../../src/service/executor.js";
import type { Choice, ContextResult, Registry, TransferFactoryResult } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { hasUnreadable, type StoreReader, type StoreWriter } from "../../src/state/port.js";
import { elementOf } from "../fixtures/contexts.js";
import { parties } from "../fixtures/elements.js";
import { tableOf } from "../fixtures/in-memory.js";
import { followerOf } from "../fixtures/follower.js";
import { beginWriter, freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { account, leg, settlement, transferV1 } from "../fixtures/requests.js";

const admin = parties.registrar;
const registry = tableRegistry(
  tableOf(`
name: tea
package: tea
templates:
  rules: { name: "Tea:Rules", registrar: admin }
  approval: { name: "Tea:Approval", registrar: admin, until: until, roles: { provider: provider } }
  locked: { name: "Tea:Locked", registrar: admin, refs: { seal: seal }, from: from }
  seal: { name: "Tea:Seal", registrar: admin, from: from }
  right: { name: "Tea:Right", registrar: admin, until: until }
  offer: { name: "Tea:Offer", registrar: admin, choices: transfer-instruction, refs: { locked: locked }, until: until }
  allocation: { name: "Tea:Allocation", registrar: admin, choices: allocation, refs: { locked: locked } }
factory: { template: rules }
instruments: [USD]
direct: approval
entries:
  rules: { template: rules }
  approval: { template: approval, find: { receiver: receiver } }
  rightOf: { template: right, find: { party: approval.provider } }
  executorRight: { template: right, find: { party: executor }, value: list }
  locked: { template: locked, byId: locked }
  seal: { template: seal, byId: locked.seal }
  settled: { template: allocation, byId: allocations }
  settledLocks: { template: locked, byId: settled.locked }
operations:
  "*":
    - { entry: rules, key: rules }
  transfer-factory:
    - { entry: approval, key: approval, missing: omit, unless: self }
    - { entry: rightOf, key: right, missing: omit, if: approval, unless: self }
  settlement-factory:
    - { disclosure: settled, missing: omit }
    - { disclosure: settledLocks, missing: omit }
    - { entry: executorRight, key: rights, missing: omit }
  transfer-instruction/accept:
    - { disclosure: locked, missing: omit }
    - { disclosure: seal, missing: omit }
  transfer-instruction/reject:
    - { exists: locked, key: locked }
    - { entry: rules, key: unlock, if: locked }
  transfer-instruction/withdraw:
    - { archived: locked, key: gone }
    - { entry: rules, key: free, unless: locked }
  allocation/withdraw:
    - { entry: rules, key: unlock, if: locked }
  allocation/cancel:
    - { entry: rules, key: free, unless: locked }
  allocation/execute-transfer:
    - { disclosure: seal, missing: omit }
    - { entry: executorRight, key: rights, missing: omit }
`),
);
const { templates } = registry;
const decoder = new Decoder(templates);

const of = (template: string, id: string, fields: JsonObject = {}): JsonObject =>
  elementOf(`tea#Tea:${template}`, id, { admin, ...fields });
/** A time that is none cannot be parsed. */
const BROKEN = "soon";

const world: readonly JsonObject[] = [
  of("Rules", "rules"),
  of("Approval", "dave-approves", { receiver: "dave", provider: "paul" }),
  of("Locked", "locked", { seal: "seal" }),
  of("Seal", "seal"),
  of("Right", "right", { party: "paul" }),
  of("Right", "executor-right", { party: "executor::1220" }),
  of("Offer", "offer", { locked: "locked" }),
  of("Offer", "bare", {}),
  of("Offer", "late", { locked: "never-seen" }),
  of("Allocation", "allocation", { locked: "locked", settlement: { executors: ["eve", "executor::1220"] } }),
  of("Allocation", "late-allocation", { locked: "never-seen" }),
];

/** What could not be parsed is stored as unreadable. */
const contractsOf = (elements: readonly JsonObject[]) =>
  elements.flatMap((element) => {
    try {
      return decoder.decode(element) ?? [];
    } catch {
      const { contractEntry } = element as { contractEntry: { JsActiveContract: { createdEvent: JsonObject } } };
      return decoder.unreadable(contractEntry.JsActiveContract.createdEvent) ?? [];
    }
  }) as StoredContract[];

interface Store {
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  readonly refresh?: () => Promise<void>;
}

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  async memory() {
    const store = new MemoryStore();
    return { reader: store, writer: store };
  },
  async PostgreSQL() {
    const { database } = schema;
    await schema.empty();
    const writer = await beginWriter(database);
    const follower = followerOf(database, { templates });
    return { reader: follower, writer, refresh: follower.refresh };
  },
};

type Query = (registry: Registry, context: Parameters<Registry["transferFactory"]>[0]) => ContextResult;

const choice =
  (name: Choice, contractId: string): Query =>
  (served, context) =>
    served.choiceContext(context, name, { registrar: admin, contractId });
const onOffer = (name: "accept" | "reject" | "withdraw", id: string) => choice(`transfer-instruction/${name}`, id);
const argumentsOf = ({ choiceArguments }: JsonObject) => ({
  registrar: admin,
  choiceArguments: choiceArguments as JsonObject,
});
const transfer =
  (receiver: string): Query =>
  (served, context) =>
    served.transferFactory(context, argumentsOf(transferV1("alice", receiver)));
const settle =
  (...ids: string[]): Query =>
  (served, context) =>
    served.settlementFactory(context, argumentsOf(settlement([leg(account("a"), account("b"), "USD")], ids)));

/** Keys of the context with booleans, the kind of transfer, and disclosed ids; or why there is no answer. */
async function outcomeOf(executor: QueryExecutor, query: Query): Promise<unknown> {
  try {
    const { value } = await executor.execute(query);
    const { values, disclosed, transferKind } = value as ContextResult & Partial<TransferFactoryResult>;
    const said = values.map(({ name, value: { tag, value: is } }) => (tag === "AV_Bool" ? `${name}=${is}` : name));
    const ids = disclosed.map(({ contractId }) => contractId);
    return [...(transferKind === undefined ? [] : [transferKind]), ...said, ":", ...ids].join(" ");
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const { reason, details } = error;
    return details.code === undefined ? reason : `${reason} ${details.code} ${details.about?.contractId ?? ""}`.trim();
  }
}

const UNREADABLE = "unavailable contract-unreadable";

describe.each(Object.entries(stores))("on %s", (_name, create) => {
  let store: Store;
  let waits: number;
  let catchUp: () => AsyncIterable<CatchUpProgress>;
  let executor: QueryExecutor;
  const ask = (query: Query) => outcomeOf(executor, query);
  const apply = async (...changes: Parameters<StoreWriter["apply"]>[0][]) => {
    await store.writer.apply(changes.flat(), (store.writer.checkpoint?.offset ?? 0) + 1);
    await store.refresh?.();
  };
  const add = (...elements: JsonObject[]) => apply(contractsOf(elements).map((active) => ({ active })));
  const archive = (archived: string) => apply([{ archived }]);

  beforeEach(async () => {
    store = await create();
    await store.writer.replace(contractsOf(world), 10, 1_000_000);
    await store.refresh?.();
    waits = 0;
    catchUp = async function* () {
      yield "reached" as const;
    };
    const freshness = {
      staleReason: () => undefined,
      catchUp() {
        waits++;
        return catchUp();
      },
    };
    executor = new QueryExecutor(registry, store.reader, freshness, () => Date.parse("2026-06-01T00:00:00Z"));
  });
  afterEach(() => vi.restoreAllMocks());

  const settled = "rules rights : rules late-allocation executor-right";
  test.each<[string, Query, string]>([
    ["a transfer without a preapproval", transfer("bob"), "offer rules : rules"],
    ["a direct transfer", transfer("dave"), "direct rules approval right : rules dave-approves right"],
    ["accept", onOffer("accept", "offer"), "rules : rules locked seal"],
    ["accept of what has no reference", onOffer("accept", "bare"), "rules : rules"],
    ["accept of what refers to nothing known", onOffer("accept", "late"), "rules : rules"],
    ["reject", onOffer("reject", "offer"), "rules locked=true unlock : rules locked"],
    ["withdraw", onOffer("withdraw", "offer"), "rules gone=false : rules"],
    ["a settlement", settle("allocation"), "rules rights : rules allocation locked executor-right"],
    ["executors", choice("allocation/execute-transfer", "allocation"), "rules rights : rules seal executor-right"],
    ["a settlement that refers to nothing known", settle("late-allocation"), settled],
  ])("%s is answered at once", async (_what, query, expected) => {
    expect(await ask(query)).toBe(expected);
    expect(waits).toBe(0);
  });

  test("a preapproval that could not be parsed may be of any receiver", async () => {
    await add(of("Approval", "broken", { receiver: "carol", provider: "paul", until: BROKEN }));
    expect(await ask(transfer("bob"))).toBe(UNREADABLE);
    expect(await ask(transfer("dave"))).toMatch(/^direct /);
    expect(await ask(transfer("alice"))).toBe("self rules : rules");
    expect(await ask(onOffer("accept", "offer"))).toBe("rules : rules locked seal");
    await archive("broken");
    expect(await ask(transfer("bob"))).toBe("offer rules : rules");
  });

  test("so may what is looked for by a value of another entry", async () => {
    await archive("right");
    expect(await ask(transfer("dave"))).toBe("direct rules approval : rules dave-approves");
    await add(of("Right", "broken", { party: "someone", until: BROKEN }));
    expect(await ask(transfer("dave"))).toBe(UNREADABLE);
    expect(await ask(settle("allocation"))).toMatch(/rights/);
    // On the other synchronizer there is a conflict, which a retry does not mend.
    const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
    await add(elementOf("tea#Tea:Rules", "rules-B", { admin }, onB));
    expect(await ask(transfer("dave"))).toBe(UNREADABLE);
  });

  test("one with another id does not matter", async () => {
    await archive("locked");
    await add(of("Locked", "other", { from: BROKEN }));
    expect(await ask(onOffer("reject", "offer"))).toBe("rules locked=false : rules");
    expect(await ask(onOffer("withdraw", "offer"))).toBe("rules gone=true free : rules");
    expect(await ask(choice("allocation/cancel", "allocation"))).toBe("rules free : rules");
  });

  test("what depends on whether its contract exists, or on a reference in it, is unavailable", async () => {
    await add(
      of("Locked", "broken", { seal: "seal", from: BROKEN }),
      of("Offer", "second", { locked: "broken" }),
      of("Allocation", "leg", { locked: "broken", settlement: { executors: ["eve"] } }),
    );
    const offers = (["reject", "withdraw", "accept"] as const).map((one) => onOffer(one, "second"));
    const legs = (["withdraw", "cancel", "execute-transfer"] as const).map((one) => choice(`allocation/${one}`, "leg"));
    const queries = [...offers, ...legs, settle("leg")];
    for (const query of queries) expect(await ask(query)).toBe(`${UNREADABLE} broken`);
    await archive("broken");
    for (const query of queries) expect(await ask(query)).not.toMatch(/unavailable/);
    expect(waits).toBe(0);
  });

  test("an instruction that could not be parsed", async () => {
    await add(of("Offer", "broken", { until: BROKEN }));
    expect(await ask(onOffer("reject", "broken"))).toBe(`${UNREADABLE} broken`);
    await archive("broken");
    expect(await ask(onOffer("reject", "broken"))).toMatch(/^not-found/);
  });

  test("a snapshot keeps them", async () => {
    const broken = of("Approval", "broken", { receiver: "carol", until: BROKEN });
    await store.writer.replace(contractsOf([...world, broken]), 20, 1_000_000);
    await store.refresh?.();
    expect(await ask(transfer("bob"))).toBe(UNREADABLE);
    const found = store.reader.read((view) => templates.filter((one) => hasUnreadable(view, one)));
    expect(found.map(({ qualifiedName }) => qualifiedName)).toEqual(["Tea:Approval"]);
  });

  describe("an id that was never seen", () => {
    const lock = of("Locked", "never-seen");
    const allocation = of("Allocation", "never-seen", { locked: "locked" });
    test.each<[string, Query, absent: string, JsonObject, found: string]>([
      ["exists", onOffer("reject", "late"), "rules locked=false : rules", lock, "locked=true unlock"],
      ["archived", onOffer("withdraw", "late"), "rules gone=true free : rules", lock, "gone=false"],
      ["if", choice("allocation/withdraw", "late-allocation"), "rules : rules", lock, "unlock"],
      ["unless", choice("allocation/cancel", "late-allocation"), "rules free : rules", lock, "rules : rules"],
      ["of the request", settle("never-seen"), "rules rights : rules executor-right", allocation, "never-seen"],
    ])("%s: is awaited until the end of the ledger is reached", async (_what, query, absent, arriving, found) => {
      expect(await ask(query)).toBe(absent);
      expect(waits).toBe(1);
      // The end is not reached.
      catchUp = async function* () {
        yield "advanced" as const;
      };
      expect(await ask(query)).toBe("unavailable");
      catchUp = async function* () {
        yield "advanced" as const;
        await add(arriving);
        yield "advanced" as const;
      };
      expect(await ask(query)).toContain(found);
      waits = 0;
      await archive("never-seen");
      expect(await ask(query)).toBe(absent);
      expect(waits).toBe(0);
    });
  });
});
