/** Read-your-writes: queries while the store is behind the ledger. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { StoredContract } from "../../src/domain/contract.js";
import { conflict, invalid, notFound, RegistryError, unavailable } from "../../src/domain/errors.js";
import type { CatchUpProgress, ContractSource } from "../../src/domain/ledger.js";
import { QueryExecutor } from "../../src/service/executor.js";
import { Recording } from "../../src/service/recorder.js";
import type { OperationRequest, ReadById, Registry, RequestContext } from "../../src/registry/sdk/registry.js";
import { burnOffer, holding, transferOffer } from "../../src/registry/utility/templates.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { StoreReader, View } from "../../src/state/port.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { contractsOf, holdingOnLedger, utility } from "../fixtures/in-memory.js";
import { instructions, registryOf } from "../fixtures/registries.js";

const [offer, other, third] = contractsOf(
  ["offer", "other", "third"].map((id) => element("TransferOffer", id, payload.offer("alice", "bob", "USD", "locked"))),
) as [StoredContract, StoredContract, StoredContract];

interface Given {
  /** Of the store at offset 10; undefined for one that has no state. */
  readonly contracts?: readonly StoredContract[] | undefined;
  /** Is archived at offset 11. */
  readonly archived?: string;
  readonly stale?: string;
  /** Changes the store during the wait. By default the ledger has no more. */
  readonly catchUp?: (store: MemoryStore) => AsyncIterable<CatchUpProgress>;
  readonly now?: () => number;
  /** Called with the number of the read, while the ledger is asked. */
  readonly whileReading?: (store: MemoryStore, read: number) => Promise<void>;
  /** The reader on the store; the store itself by default. */
  readonly reader?: (store: MemoryStore) => StoreReader;
}

async function* reachedAtOnce(): AsyncGenerator<CatchUpProgress> {
  yield "reached";
}

/** `waits` has a text for each wait that has begun, and one for each that has ended. */
async function setUp(given: Given = {}) {
  const { contracts = [], archived, stale, catchUp = reachedAtOnce, now = () => 0, reader } = given;
  const store = new MemoryStore();
  if (!("contracts" in given) || given.contracts !== undefined) await store.replace(contracts, 10);
  if (archived !== undefined) await store.apply([{ archived }], 11);
  const waits: string[] = [];
  const freshness = {
    staleReason: () => stale,
    async *catchUp() {
      waits.push("begun");
      try {
        yield* catchUp(store);
      } finally {
        waits.push("ended");
      }
    },
  };
  const executorWith = (source?: ContractSource, registry: Registry = utility) =>
    new QueryExecutor(registry, reader?.(store) ?? store, freshness, now, undefined, source);
  return { executor: executorWith(), executorWith, store, waits };
}

type Query<T = string> = (registry: Registry, context: RequestContext) => T;

/** Looks up one contract by id, and throws as an operation does if it is missing. */
const byId =
  (contractId: string, template = transferOffer): Query =>
  (_registry, { view }) => {
    if (view.byId<unknown>(template, contractId) !== undefined) return contractId;
    throw notFound(`no ${contractId} at ${view.offset}`);
  };
const byKey: Query = (_registry, { view }) => {
  if (view.byKey(transferOffer, "none").length === 0) throw notFound("no such key");
  return "found";
};
/** One after the other: each must be there. */
const all =
  (...queries: readonly Query[]): Query =>
  (served, context) =>
    queries.map((query) => query(served, context)).join();
/** Continues where the offer is missing. */
const without =
  (then: Query): Query =>
  (served, context) => {
    expect(() => byId("offer")(served, context)).toThrow(RegistryError);
    return then(served, context);
  };
const failing =
  (error: Error): Query =>
  () => {
    throw error;
  };
/** Of the operations of the registry. */
const choose =
  (choice: "reject" | "accept"): Query =>
  (served, context) => {
    const query = { registrar: parties.registrar, contractId: "offer" };
    const { disclosed } = served.choiceContext(context, `transfer-instruction/${choice}`, query);
    return disclosed.map(({ contractId }) => contractId).findLast((id) => id === "locked") ?? "nothing";
  };

/** The contracts arrive one by one, from offset 20 on; then the end is reached. */
const arriving = (...contracts: readonly StoredContract[]) =>
  async function* (store: MemoryStore): AsyncGenerator<CatchUpProgress> {
    yield* advancing(...contracts)(store);
    yield "reached";
  };
/** The ledger is not reached in time. */
const advancing = (...contracts: readonly StoredContract[]) =>
  async function* (store: MemoryStore): AsyncGenerator<CatchUpProgress> {
    for (const [index, active] of contracts.entries()) {
      await store.apply([{ active }], 20 + index);
      yield "advanced";
    }
  };
async function* archiving(store: MemoryStore): AsyncGenerator<CatchUpProgress> {
  await store.apply([{ active: offer }], 20);
  await store.apply([{ archived: "offer" }], 21);
  yield "advanced";
  throw new Error("the wait goes on");
}
const ofRegistry = contractsOf(registryOf());
const pending = contractsOf(instructions()).map((active) => ({ active }));
async function* withInstructions(store: MemoryStore): AsyncGenerator<CatchUpProgress> {
  await store.apply(pending, 20);
  yield "advanced";
}
const otherGone = { contracts: [other], archived: "other" };

const NOT_REACHED =
  "unavailable: the request names a contract that is not known yet, and the ledger is not reached in time";
const NO_STATE = "unavailable: no snapshot of the ledger has been taken yet";

/** The offsets of a query's runs, then what it returns or fails with. Refused, it is decided once more to learn what it misses. */
async function outcome(given: Given, query: Query) {
  const { executor, waits } = await setUp(given);
  const runs: number[] = [];
  const counting: Query = (served, context) => {
    runs.push(context.view.offset);
    return query(served, context);
  };
  const say = (text: string) => ({ outcome: [...runs, text].join(" "), waits });
  try {
    return say((await executor.execute(counting)).value);
  } catch (error) {
    const { name, message } = error as Error;
    return say(`${error instanceof RegistryError ? error.reason : name}: ${message}`);
  }
}

describe("a contract that is missing", () => {
  const [find, gets] = [byId("offer"), { catchUp: arriving(offer) }];
  const wrong = failing(invalid("wrong"));
  const onRegistry = { contracts: ofRegistry };

  test.each<[string, Given, Query, string]>([
    ["is found before the end", { catchUp: arriving(other, offer, third) }, find, "10 10 20 21 offer"],
    ["is missing at the end", { catchUp: arriving(other) }, find, "10 10 20 20 not-found: no offer at 20"],
    ["is not known if nothing comes", { catchUp: advancing() }, find, `10 10 ${NOT_REACHED}`],
    ["is not known before the end", { catchUp: advancing(other) }, find, `10 10 20 ${NOT_REACHED}`],
    ["was archived since", { catchUp: archiving }, find, "10 10 21 not-found: no offer at 21"],
    ["is found, another is not", gets, all(find, byId("other")), "10 10 20 20 not-found: no other at 20"],
    ["is found beside another", { ...gets, contracts: [other] }, all(byId("other"), find), "10 10 20 other,offer"],
    ["is found, then something fails", gets, all(find, wrong), "10 10 20 invalid: wrong"],
    ["is missed beside an archived one", otherGone, without(byId("other")), "11 11 11 not-found: no other at 11"],
    ["has another template", { contracts: [offer] }, byId("offer", burnOffer), "10 10 10 not-found: no offer at 10"],
    ["is one of an operation", { ...onRegistry, catchUp: withInstructions }, choose("reject"), "10 10 20 locked"],
  ])("is awaited once: it %s", async (_what, given, query, expected) => {
    expect(await outcome(given, query)).toEqual({ outcome: expected, waits: ["begun", "ended"] });
  });

  test.each<[string, Given, Query, string]>([
    ["it is there", { contracts: [offer] }, find, "10 offer"],
    ["it is archived", { contracts: [offer], archived: "offer" }, find, "11 11 not-found: no offer at 11"],
    ["it is looked up by index key", gets, byKey, "10 10 not-found: no such key"],
    ["the query succeeds without it", {}, without(() => "without"), "10 without"],
    ["the request is invalid", {}, without(wrong), "10 invalid: wrong"],
    ["there is a conflict", {}, without(failing(conflict("between"))), "10 conflict: between"],
    ["something is unavailable", {}, without(failing(unavailable("later"))), "10 unavailable: later"],
    ["there is a defect", {}, without(failing(new TypeError("broken"))), "10 TypeError: broken"],
    ["there is no state yet", { contracts: undefined }, find, NO_STATE],
    ["the store is stale", { contracts: [offer], stale: "too old" }, find, "unavailable: too old"],
  ])("is not awaited if %s", async (_what, given, query, expected) => {
    expect(await outcome(given, query)).toEqual({ outcome: expected, waits: [] });
  });
});

test("all runs of a query have the time at which it came, and the last of them knows that it is the last", async () => {
  const clock = { now: 1_000 };
  const { executor } = await setUp({
    now: () => clock.now,
    async *catchUp(store) {
      clock.now = 1_700;
      yield* arriving(other)(store);
    },
  });
  const seen: [number, boolean | undefined][] = [];
  const { value } = await executor.execute((served, context) => {
    seen.push([context.now, context.hasReachedEnd]);
    return context.hasReachedEnd ? "without" : byId("offer")(served, context);
  });
  expect(value).toBe("without");
  expect(seen).toEqual([false, false, false, true].map((hasReachedEnd) => [1_000, hasReachedEnd]));
});

test("execution is synchronous, errors too, unless there is a wait", async () => {
  const { executor } = await setUp({ contracts: [offer] });
  expect(executor.execute(byId("offer"))).toMatchObject({ value: "offer", readVersion: { offset: 10 } });
  expect(executor.executeUtility((_utility, { view }) => view.offset)).toMatchObject({ value: 10 });
  expect(() => executor.execute(byKey)).toThrow("no such key");
  const answer = (await setUp({ catchUp: arriving(offer) })).executor.execute(byId("offer"));
  expect(answer).toBeInstanceOf(Promise);
  expect((await answer).value).toBe("offer");
});

describe("what a registry names to be read before a query", () => {
  const request: OperationRequest = {
    operation: "burn-mint-factory",
    query: { registrar: parties.registrar, instrumentId: "USD", holders: [] },
  };
  /** The owners of the holdings, as the ledger has them. */
  const owners =
    (...ids: readonly string[]): Query =>
    (_registry, context) =>
      ids
        .map((id) => context.onLedger(holding, id))
        .map((one) => (typeof one === "object" ? one.fields.owner : one))
        .join();

  /** `reads` has the ids of each read, `runs` the offsets of the states. */
  async function asking(names: ReadById["contractIds"], query: Query, given: Given = {}) {
    const reads: (readonly string[])[] = [];
    const runs: number[] = [];
    const setup = await setUp(given);
    const source: ContractSource = {
      async contracts(ids) {
        reads.push(ids);
        await given.whileReading?.(setup.store, reads.length);
        const known = ids.filter((id) => !id.startsWith("unknown"));
        const said = (id: string) => (id === "gone" ? "archived" : id === "slow" ? "unread" : undefined);
        return new Map(known.map((id) => [id, said(id) ?? holdingOnLedger(id, "alice")]));
      },
    };
    const registry = { ...utility, readById: { templates: [holding], contractIds: names } };
    const executor = setup.executorWith(source, registry);
    const counting: Query = (served, context) => {
      runs.push(context.view.offset);
      return query(served, context);
    };
    return {
      execute: (recording?: Recording) => executor.execute(counting, recording, request),
      reads,
      runs,
      waits: setup.waits,
    };
  }

  test("is read, and the query runs once", async () => {
    const ids = ["aa", "gone", "unknown", "slow"];
    const { execute, reads, runs } = await asking(() => ids, owners(...ids, "aa"));
    expect((await execute()).value).toBe("alice,archived,,unread,alice");
    expect({ reads, runs }).toEqual({ reads: [ids], runs: [10] });
  });

  test("needs no promise if it is nothing", async () => {
    const { execute, reads } = await asking(() => [], byId("offer"), { contracts: [offer] });
    expect(execute()).toMatchObject({ value: "offer" });
    expect(reads).toEqual([]);
  });

  test("is nothing where there is no ledger to ask", async () => {
    const { executor } = await setUp();
    expect(executor.execute(owners("aa"), undefined, request)).toMatchObject({ value: "" });
  });

  test("is nothing for a request that cannot be understood: its operation refuses it", async () => {
    const names = () => {
      throw invalid("no holding");
    };
    const { execute, reads } = await asking(names, failing(invalid("no offer")));
    expect(execute).toThrow("no offer");
    expect(reads).toEqual([]);
  });

  test("is all that a query may ask for", async () => {
    const { execute } = await asking(() => ["aa"], owners("aa", "bb"));
    await expect(execute()).rejects.toThrow("contract bb was not read");
  });

  test("of another template is not known", async () => {
    const { execute } = await asking(
      () => ["aa"],
      (_registry, context) => typeof context.onLedger(transferOffer, "aa"),
    );
    expect((await execute()).value).toBe("undefined");
  });

  test("is read again where the state names others, so the query sees all of its state", async () => {
    const names = ({ offset }: View) => (offset === 10 ? ["aa"] : ["aa", "bb"]);
    const { execute, reads, runs } = await asking(names, owners("aa", "bb"), {
      whileReading: (store) => store.apply([], 11),
    });
    expect((await execute()).value).toBe("alice,alice");
    expect({ reads, runs }).toEqual({ reads: [["aa"], ["bb"]], runs: [11] });
  });

  test("is unread if each state names others", async () => {
    const at = ({ offset }: View) => `at ${offset}`;
    const { execute, reads, runs } = await asking(
      (view) => [at(view)],
      (registry, context) => owners(at(context.view))(registry, context),
      { whileReading: (store, read) => store.apply([], 10 + read) },
    );
    expect((await execute()).value).toBe("unread");
    expect({ reads: reads.length, runs }).toEqual({ reads: 3, runs: [13] });
  });

  test("is kept while the store catches up", async () => {
    const given = { catchUp: arriving(other, offer) };
    const { execute, reads, waits } = await asking(() => ["aa"], all(byId("offer"), owners("aa")), given);
    expect((await execute()).value).toBe("offer,alice");
    expect({ reads, waits }).toEqual({ reads: [["aa"]], waits: ["begun", "ended"] });
  });

  test.each([
    ["has no tags if its contracts are not mirrored", { ...holding, isReadById: true }, false],
    ["has those of its look-ups if they are", holding, true],
  ])("an answer with it %s", async (_what, template, isTagged) => {
    const { execute } = await asking(
      () => ["unknown"],
      (_registry, context) => typeof context.onLedger(template, "unknown"),
    );
    const recording = new Recording();
    await execute(recording);
    expect(recording.last?.tags !== undefined).toBe(isTagged);
  });
});

test("a registry method that returns a promise is an error", async () => {
  const { executor } = await setUp({ contracts: [offer] });
  const waiting = () => executor.execute(() => Promise.reject(new Error("later")));
  expect(waiting).toThrow("registry Registry Utility returned a promise");
});

describe("what a query looks up", () => {
  test("is not recorded unless somebody wants it", async () => {
    const views: View[] = [];
    const reader = (store: MemoryStore): StoreReader => ({
      read: (use) =>
        store.read((view) => {
          views.push(view);
          return use(view);
        }),
      ids: (template) => store.ids(template),
    });
    const { executor } = await setUp({ contracts: [offer], reader });
    const unread: Iterable<number> = { [Symbol.iterator]: () => expect.fail("the times are read") };
    const { value } = await executor.execute((_registry, context) => {
      context.mayChangeAt(unread);
      expect(context.recorder).toBeUndefined();
      return context.view;
    });
    expect(views).toEqual([value]);
  });

  test("is that of the last run: each lookup once, found or not, and the next time of a change", async () => {
    const { executor } = await setUp({ contracts: [other], catchUp: arriving(offer), now: () => 1_000 });
    const recording = new Recording();
    expect(recording.last).toBeUndefined();
    let runs = 0;
    await executor.execute((served, context) => {
      if (runs++ === 0) context.view.all(transferOffer);
      context.mayChangeAt([1_000_000, 3_000_000, 2_000_000, 4_000_000]);
      for (const id of ["other", "absent", "other"]) context.view.byId(transferOffer, id);
      context.view.byKey(transferOffer, "a key");
      return byId("offer")(served, context);
    }, recording);
    const tags = ["id other", "id absent", "index key a key", "id offer"].map((text) =>
      createHash("sha256").update(text).digest("hex").slice(0, 8),
    );
    expect([...(recording.last?.tags ?? [])]).toEqual(tags);
    expect(recording.last).toMatchObject({ offset: 20, validUntil: 2_000_000, explanation: undefined });
  });

  test("has no tags that name all of it if the time of the latest update is read", async () => {
    const recording = new Recording();
    await (await setUp()).executor.execute((_registry, { view }) => view.asOf, recording);
    expect(recording.last?.tags).toBeUndefined();
  });

  test("is decided as at the time of the recording", async () => {
    const { executor } = await setUp({ now: () => 1_000 });
    expect((await executor.execute((_registry, { now }) => now, new Recording(true, 7_000))).value).toBe(7_000);
  });
});
