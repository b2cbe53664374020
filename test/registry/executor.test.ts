/** Read-your-writes: queries while the store is behind the ledger. */
import { describe, expect, test } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import type { Freshness } from "../../src/domain/freshness.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { conflict, invalid, notFound, RegistryError, unavailable } from "../../src/domain/errors.js";
import type { Registry, RequestContext } from "../../src/registry/sdk/registry.js";
import { burnOffer, transferOffer } from "../../src/registry/utility/templates/instructions.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { type Contract, isStored } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { StoreReader, View } from "../../src/store/port.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";

const registry = utilityRegistry({
  settlementLimits: { legs: 10, allocations: 10, instruments: 10, accounts: 10, parties: 10 },
});
const decoder = new Decoder(registry.templates);

const contractsOf = (elements: readonly JsonObject[]): Contract[] =>
  elements.map((given) => {
    const entry = decoder.decode(given);
    if (entry === undefined || !isStored(entry.contract)) throw new Error("the element was not kept");
    return entry.contract;
  });

const [offer, other] = contractsOf([
  element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
  element("TransferOffer", "other", payload.offer("alice", "bob", "USD", "locked")),
]) as [Contract, Contract];

interface Setup {
  readonly store: MemoryStore;
  readonly executor: QueryExecutor;
  /** Executes a query; errors always reject. */
  readonly execute: <T>(query: Query<T>) => Promise<T>;
  /** The offsets of all calls of `catchUp`. */
  readonly waits: number[];
}

interface SetupOptions {
  readonly staleReason?: () => string | undefined;
  /** Changes the store during the wait, and returns whether it moved. */
  readonly catchUp?: (store: MemoryStore, offset: number) => Promise<boolean> | boolean;
  readonly contracts?: readonly Contract[];
  readonly now?: () => number;
  /** The reader on the store; the store itself by default. */
  readonly reader?: (store: MemoryStore) => StoreReader;
}

/** An executor on a store at offset 10. */
async function setUp(options: SetupOptions = {}): Promise<Setup> {
  const store = new MemoryStore();
  await store.replace(options.contracts ?? [], 10);
  return setUpOn(store, options);
}

function setUpOn(store: MemoryStore, { staleReason, catchUp, now, reader }: SetupOptions = {}): Setup {
  const waits: number[] = [];
  const freshness: Freshness = {
    staleReason: staleReason ?? (() => undefined),
    async catchUp(offset) {
      waits.push(offset);
      return (await catchUp?.(store, offset)) ?? false;
    },
  };
  const executor = new QueryExecutor(registry, reader?.(store) ?? store, freshness, now ?? (() => 0));
  return { store, executor, execute: async (query) => (await executor.execute(query)).value, waits };
}

/** A reader that discards the first run, as a store does that moves while it fetches. */
class MovingReader implements StoreReader {
  readonly #store: MemoryStore;
  readonly #move: (store: MemoryStore) => Promise<void>;
  #isFirst = true;

  /** `move` changes the store after the first run. */
  constructor(store: MemoryStore, move: (store: MemoryStore) => Promise<void>) {
    this.#store = store;
    this.#move = move;
  }

  async read<T>(use: (view: View) => T): Promise<T> {
    if (this.#isFirst) {
      this.#isFirst = false;
      try {
        this.#store.read(use);
      } catch {
        // The first run is discarded, errors included.
      }
      await this.#move(this.#store);
    }
    return this.#store.read(use);
  }
}

type Query<T> = (registry: Registry, context: RequestContext) => T;

/** Looks up one contract by id, and throws as an operation does if it is missing. */
const byId =
  (contractId: string, runs: number[] = []): Query<string> =>
  (_registry, { view }) => {
    runs.push(view.offset);
    const found = view.byId(transferOffer, contractId);
    if (found === undefined) throw notFound(`no contract ${contractId} at ${view.offset}`);
    return found.contractId;
  };

/** The same, but continues without the contract. */
const without: Query<string | undefined> = (served, context) => {
  try {
    return byId("offer")(served, context);
  } catch (error) {
    if (error instanceof RegistryError) return undefined;
    throw error;
  }
};

const both: Query<string[]> = (served, context) => [byId("offer")(served, context), byId("other")(served, context)];

const byKey: Query<string> = (_registry, { view }) => {
  const [found] = view.byKey(transferOffer, "none");
  if (found === undefined) throw notFound("no contract of that key");
  return found.contractId;
};

const arriving =
  (...contracts: readonly Contract[]) =>
  async (store: MemoryStore): Promise<boolean> => {
    await store.apply(
      contracts.map((active) => ({ active })),
      20,
    );
    return true;
  };

const failing = (reason: RegistryError["reason"], message: string): RegistryError =>
  expect.objectContaining({ name: "RegistryError", reason, message }) as RegistryError;

describe("a contract that the store does not have yet", () => {
  test("is awaited and found", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    expect(await execute(byId("offer", runs))).toBe("offer");
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10, 20]);
  });

  test("is awaited by an operation of the registry", async () => {
    const pending = contractsOf(instructions());
    const { execute, waits } = await setUp({
      contracts: contractsOf(registryOf()),
      catchUp: async (store) => {
        await store.apply(
          pending.map((active) => ({ active })),
          20,
        );
        return true;
      },
    });
    const answer = await execute((served, context) =>
      served.choiceContext(context, "transfer-instruction/reject", {
        registrar: parties.registrar,
        contractId: "offer",
      }),
    );
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([10]);
  });

  test("is not found if it is missing after the wait", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(other) });
    await expect(execute(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 20"));
    expect(waits).toEqual([10]);
  });

  test("is not found if the store does not move, and the query runs once", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ catchUp: () => false });
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 10"));
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10]);
  });

  test("is awaited once, even if the query then misses another", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    await expect(execute(both)).rejects.toEqual(failing("not-found", "no contract other at 20"));
    expect(waits).toEqual([10]);
  });

  test("is awaited by many queries at once", async () => {
    let arrived: Promise<boolean> | undefined;
    const { execute, waits } = await setUp({ catchUp: (store) => (arrived ??= arriving(offer)(store)) });
    const answers = await Promise.all(Array.from({ length: 200 }, () => execute(byId("offer"))));
    expect(new Set(answers)).toEqual(new Set(["offer"]));
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.length).toBeLessThanOrEqual(200);
  });

  test("is awaited if it is one of several", async () => {
    const { execute, waits } = await setUp({ contracts: [other], catchUp: arriving(offer) });
    const answer = execute((_registry, { view }) => {
      const missing = view.byId(transferOffer, "offer");
      expect(view.byId(transferOffer, "other")?.payload).toBe(other.payload);
      expect(view.byKey(transferOffer, "none")).toEqual([]);
      if (missing === undefined) throw notFound("the offer is missing");
      return missing.contractId;
    });
    expect(await answer).toBe("offer");
    expect(waits).toEqual([10]);
  });

  test("that arrives during the query is found without waiting", async () => {
    const { execute, waits } = await setUp({
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const runs: number[] = [];
    expect(await execute(byId("offer", runs))).toBe("offer");
    expect(runs).toEqual([10, 11]);
    expect(waits).toEqual([]);
  });

  test("is missed at the offset of the last attempt", async () => {
    const { execute, waits } = await setUp({
      catchUp: () => false,
      reader: (store) => new MovingReader(store, () => store.apply([], 17)),
    });
    const runs: number[] = [];
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 17"));
    expect(runs).toEqual([10, 17]);
    expect(waits).toEqual([17]);
  });

  test("is not missed if the last attempt fails for another reason", async () => {
    const { execute, waits } = await setUp({
      catchUp: () => true,
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const answer = execute((served, context) => {
      byId("offer")(served, context);
      throw invalid("wrong");
    });
    await expect(answer).rejects.toEqual(failing("invalid", "wrong"));
    expect(waits).toEqual([]);
  });

  test("may change the answer of the second run", async () => {
    const { execute, waits } = await setUp({
      contracts: contractsOf(registryOf()),
      reader: (store) =>
        new MovingReader(store, () =>
          store.apply(
            contractsOf(instructions()).map((active) => ({ active })),
            11,
          ),
        ),
    });
    const query = { registrar: parties.registrar, contractId: "offer" };
    const answer = await execute((served, context) =>
      served.choiceContext(context, "transfer-instruction/accept", query),
    );
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([]);
  });
});

describe("there is no wait", () => {
  test("for an existing contract", async () => {
    const { execute, waits } = await setUp({ contracts: [offer] });
    expect(await execute(byId("offer"))).toBe("offer");
    expect(waits).toEqual([]);
  });

  test("for an archived contract", async () => {
    const { execute, store, waits } = await setUp({ contracts: [offer], catchUp: () => true });
    await store.apply([{ archived: "offer" }], 11);
    await expect(execute(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 11"));
    expect(waits).toEqual([]);
  });

  test("for a lookup by index key", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    await expect(execute(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    expect(waits).toEqual([]);
  });

  test("if the query succeeds without the contract", async () => {
    const { execute, waits } = await setUp({ catchUp: () => true });
    expect(await execute((served, context) => without(served, context) ?? "without")).toBe("without");
    expect(waits).toEqual([]);
  });

  test.each<[string, Error]>([
    ["an invalid request", invalid("wrong")],
    ["a conflict", conflict("between")],
    ["what is unavailable", unavailable("later")],
    ["a defect", new TypeError("broken")],
  ])("for %s, though a contract was missed", async (_what, error) => {
    const { execute, waits } = await setUp({ catchUp: () => true });
    const answer = execute((served, context) => {
      without(served, context);
      throw error;
    });
    await expect(answer).rejects.toBe(error);
    expect(waits).toEqual([]);
  });
});

test("a missing contract is awaited even if another one is archived", async () => {
  const { execute, store, waits } = await setUp({ contracts: [other], catchUp: () => false });
  await store.apply([{ archived: "other" }], 11);
  const answer = execute((served, context) => {
    expect(context.view.byId(transferOffer, "other")).toBeUndefined();
    return byId("offer")(served, context);
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no contract offer at 11"));
  expect(waits).toEqual([11]);
});

test("a contract of another template is not found, even after the wait", async () => {
  const { execute } = await setUp({ contracts: [offer], catchUp: arriving(other) });
  const answer = execute((_registry, { view }) => {
    const found = view.byId(burnOffer, "offer");
    if (found === undefined) throw notFound("no burn offer");
    return found;
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no burn offer"));
});

describe("unavailable", () => {
  test("before the first snapshot", async () => {
    const { execute, waits } = setUpOn(new MemoryStore(), { catchUp: () => true });
    const message = "no snapshot of the ledger has been taken yet";
    await expect(execute(byId("offer"))).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual([]);
  });

  test("while the store is stale, without running the query", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ contracts: [offer], staleReason: () => "stale", catchUp: () => true });
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("unavailable", "stale"));
    expect(runs).toEqual([]);
    expect(waits).toEqual([]);
  });

  test("ends when the store is current again", async () => {
    let reason: string | undefined = "stale";
    const { execute } = await setUp({ contracts: [offer], staleReason: () => reason });
    await expect(execute(byId("offer"))).rejects.toEqual(failing("unavailable", "stale"));
    reason = undefined;
    expect(await execute(byId("offer"))).toBe("offer");
  });
});

test("each run of a query has the current time", async () => {
  const clock = { now: 1_000 };
  const { execute } = await setUp({
    now: () => clock.now,
    catchUp: (store) => {
      clock.now = 1_700;
      return arriving(offer)(store);
    },
  });
  const moments: number[] = [];
  await execute((served, context) => {
    moments.push(context.now);
    return byId("offer")(served, context);
  });
  expect(moments).toEqual([1_000, 1_700]);
});

describe("execution is synchronous", () => {
  test("if the store's read is", async () => {
    const { executor } = await setUp({ contracts: [offer] });
    expect(executor.execute(byId("offer"))).toMatchObject({ value: "offer", basis: { offset: 10 } });
    expect(executor.executeUtility((_utility, { view }) => view.offset)).toMatchObject({ value: 10 });
  });

  test("for errors too, without a wait", async () => {
    const { executor } = await setUp();
    expect(() => executor.execute(byKey)).toThrow(failing("not-found", "no contract of that key"));
    const { executor: stale } = await setUp({ staleReason: () => "stale" });
    expect(() => stale.execute(byKey)).toThrow(failing("unavailable", "stale"));
    const { executor: empty } = setUpOn(new MemoryStore());
    expect(() => empty.execute(byKey)).toThrow(failing("unavailable", "no snapshot of the ledger has been taken yet"));
  });

  test("unless the store returns a promise, or there is a wait", async () => {
    const { executor } = await setUp({
      contracts: [offer],
      reader: (store) => new MovingReader(store, async () => {}),
    });
    const answer = executor.execute(byId("offer"));
    expect(answer).toBeInstanceOf(Promise);
    expect((await answer).value).toBe("offer");
    const { executor: waiting } = await setUp({ catchUp: arriving(offer) });
    const late = waiting.execute(byId("offer"));
    expect(late).toBeInstanceOf(Promise);
    expect((await late).value).toBe("offer");
  });

  test("and a rejected read is handled like a thrown error", async () => {
    const { execute, waits } = await setUp({ reader: (store) => new MovingReader(store, async () => {}) });
    await expect(execute(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    const { execute: executeEmpty } = setUpOn(new MemoryStore(), {
      reader: (store) => new MovingReader(store, async () => {}),
    });
    const message = "no snapshot of the ledger has been taken yet";
    await expect(executeEmpty(byKey)).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual([]);
  });
});

test("a second query sees what the first has awaited", async () => {
  const { execute, waits } = await setUp({ catchUp: arriving(offer) });
  await execute(byId("offer"));
  expect(await execute(byId("offer"))).toBe("offer");
  expect(waits).toEqual([10]);
});

test("a registry method that returns a promise is an error", async () => {
  const { executor } = await setUp({ contracts: [offer] });
  const waiting = () => executor.execute(() => Promise.reject(new Error("later")));
  expect(waiting).toThrow("registry Registry Utility returned a promise");
});
