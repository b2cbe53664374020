/** Read-your-writes: queries while the store is behind the ledger. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { alreadyCaughtUp, type CatchUpProgress, type Freshness } from "../../src/domain/ledger.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { Recording } from "../../src/registry/recorder.js";
import { conflict, invalid, notFound, RegistryError, unavailable } from "../../src/domain/errors.js";
import type { Registry, RequestContext } from "../../src/registry/sdk/registry.js";
import { burnOffer, transferOffer } from "../../src/registry/utility/templates.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { type Contract, isStored } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { type StoreReader, StoreUnavailable, type View } from "../../src/store/port.js";
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

const third = element("TransferOffer", "third", payload.offer("alice", "bob", "USD", "locked"));

interface Setup {
  readonly store: MemoryStore;
  readonly executor: QueryExecutor;
  /** Executes a query; errors always reject. */
  readonly execute: <T>(query: Query<T>) => Promise<T>;
  /** How often it waited, and how many of the waits have ended. */
  readonly waits: { begun: number; ended: number };
}

interface SetupOptions {
  readonly staleReason?: () => string | undefined;
  /** Changes the store during the wait. By default the ledger has no more. */
  readonly catchUp?: (store: MemoryStore) => AsyncIterable<CatchUpProgress>;
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
  const waits = { begun: 0, ended: 0 };
  const freshness: Freshness = {
    staleReason: staleReason ?? (() => undefined),
    async *catchUp() {
      waits.begun++;
      try {
        yield* catchUp?.(store) ?? alreadyCaughtUp();
      } finally {
        waits.ended++;
      }
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

/** Times that nobody reads. */
const unread: Iterable<number> = {
  [Symbol.iterator]() {
    throw new Error("the times are read");
  },
};

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

/** The contracts arrive one by one, from offset 20 on; then the end is reached. */
const arriving = (...contracts: readonly Contract[]) =>
  async function* (store: MemoryStore): AsyncGenerator<CatchUpProgress> {
    for (const [index, active] of contracts.entries()) {
      await store.apply([{ active }], 20 + index);
      yield "advanced";
    }
    yield "reached";
  };

/** The ledger is not reached in time. */
async function* givingUp(): AsyncGenerator<CatchUpProgress> {
  // Nothing comes.
}

async function* onlyAdvancing(store: MemoryStore): AsyncGenerator<CatchUpProgress> {
  for await (const progress of arriving(other)(store)) if (progress === "advanced") yield progress;
}

const NONE = { begun: 0, ended: 0 };
const ONE = { begun: 1, ended: 1 };
const NOT_REACHED = "the request names a contract that is not known yet, and the ledger is not reached in time";

const failing = (reason: RegistryError["reason"], message: string): RegistryError =>
  expect.objectContaining({ name: "RegistryError", reason, message }) as RegistryError;

describe("a contract that the store does not have yet", () => {
  test("is awaited and found, before the end is reached", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ catchUp: arriving(other, offer, ...contractsOf([third])) });
    expect(await execute(byId("offer", runs))).toBe("offer");
    // Refused, it is decided once more to learn what it misses.
    expect(runs).toEqual([10, 10, 20, 21]);
    expect(waits).toEqual(ONE);
  });

  test("is awaited by an operation of the registry", async () => {
    const { execute, waits } = await setUp({
      contracts: contractsOf(registryOf()),
      async *catchUp(store) {
        await store.apply(
          contractsOf(instructions()).map((active) => ({ active })),
          20,
        );
        yield "advanced";
      },
    });
    const answer = await execute((served, context) =>
      served.choiceContext(context, "transfer-instruction/reject", {
        registrar: parties.registrar,
        contractId: "offer",
      }),
    );
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual(ONE);
  });

  test("is not found if it is missing at the end", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ catchUp: arriving(other) });
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 20"));
    expect(runs).toEqual([10, 10, 20, 20]);
    expect(waits).toEqual(ONE);
  });

  test("is not known, rather than not found, if the end is not reached", async () => {
    for (const catchUp of [givingUp, onlyAdvancing]) {
      const { execute, waits } = await setUp({ catchUp });
      await expect(execute(byId("offer"))).rejects.toEqual(failing("unavailable", NOT_REACHED));
      expect(waits).toEqual(ONE);
    }
  });

  test("ends the wait as soon as it is known to be archived", async () => {
    const { execute, waits } = await setUp({
      contracts: [other],
      async *catchUp(store) {
        await store.apply([{ active: offer }], 20);
        await store.apply([{ archived: "offer" }], 21);
        yield "advanced";
        throw new Error("the wait goes on");
      },
    });
    await expect(execute(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 21"));
    expect(waits).toEqual(ONE);
  });

  test("ends the wait with another failure of a later run", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    const answer = execute((served, context) => {
      byId("offer")(served, context);
      throw invalid("wrong");
    });
    await expect(answer).rejects.toEqual(failing("invalid", "wrong"));
    expect(waits).toEqual(ONE);
  });

  test("is awaited once, even if the query then misses another", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    await expect(execute(both)).rejects.toEqual(failing("not-found", "no contract other at 20"));
    expect(waits).toEqual(ONE);
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
    expect(waits).toEqual(ONE);
  });

  test("may be left out once the query knows that the end is reached", async () => {
    const seen: (boolean | undefined)[] = [];
    const leavingOut: Query<string> = (served, context) => {
      seen.push(context.hasReachedEnd);
      return context.hasReachedEnd ? "without" : byId("offer")(served, context);
    };
    const { execute } = await setUp({ catchUp: arriving(other) });
    expect(await execute(leavingOut)).toBe("without");
    expect(seen).toEqual([false, false, false, true]);
  });

  test("that arrives during the query is found without waiting", async () => {
    const { execute, waits } = await setUp({
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const runs: number[] = [];
    expect(await execute(byId("offer", runs))).toBe("offer");
    expect(runs).toEqual([10, 11]);
    expect(waits).toEqual(NONE);
  });

  test("is missed at the offset of the last attempt", async () => {
    const { execute, waits } = await setUp({
      reader: (store) => new MovingReader(store, () => store.apply([], 17)),
    });
    const runs: number[] = [];
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 17"));
    expect(runs).toEqual([10, 17, 17, 17]);
    expect(waits).toEqual(ONE);
  });

  test("is not missed if the last attempt fails for another reason", async () => {
    const { execute, waits } = await setUp({
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const answer = execute((served, context) => {
      byId("offer")(served, context);
      throw invalid("wrong");
    });
    await expect(answer).rejects.toEqual(failing("invalid", "wrong"));
    expect(waits).toEqual(NONE);
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
    expect(waits).toEqual(NONE);
  });
});

describe("there is no wait", () => {
  test("for an existing contract", async () => {
    const { execute, waits } = await setUp({ contracts: [offer] });
    expect(await execute(byId("offer"))).toBe("offer");
    expect(waits).toEqual(NONE);
  });

  test("for an archived contract", async () => {
    const { execute, store, waits } = await setUp({ contracts: [offer] });
    await store.apply([{ archived: "offer" }], 11);
    await expect(execute(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 11"));
    expect(waits).toEqual(NONE);
  });

  test("for a lookup by index key", async () => {
    const { execute, waits } = await setUp({ catchUp: arriving(offer) });
    await expect(execute(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    expect(waits).toEqual(NONE);
  });

  test("if the query succeeds without the contract", async () => {
    const { execute, waits } = await setUp();
    expect(await execute((served, context) => without(served, context) ?? "without")).toBe("without");
    expect(waits).toEqual(NONE);
  });

  test.each<[string, Error]>([
    ["an invalid request", invalid("wrong")],
    ["a conflict", conflict("between")],
    ["what is unavailable", unavailable("later")],
    ["a defect", new TypeError("broken")],
  ])("for %s, though a contract was missed", async (_what, error) => {
    const { execute, waits } = await setUp();
    const answer = execute((served, context) => {
      without(served, context);
      throw error;
    });
    await expect(answer).rejects.toBe(error);
    expect(waits).toEqual(NONE);
  });
});

test("a missing contract is awaited even if another one is archived", async () => {
  const { execute, store, waits } = await setUp({ contracts: [other] });
  await store.apply([{ archived: "other" }], 11);
  const answer = execute((served, context) => {
    expect(context.view.byId(transferOffer, "other")).toBeUndefined();
    return byId("offer")(served, context);
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no contract offer at 11"));
  expect(waits).toEqual(ONE);
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
    const { execute, waits } = setUpOn(new MemoryStore());
    const message = "no snapshot of the ledger has been taken yet";
    await expect(execute(byId("offer"))).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual(NONE);
  });

  test("while the store is stale, without running the query", async () => {
    const runs: number[] = [];
    const { execute, waits } = await setUp({ contracts: [offer], staleReason: () => "stale" });
    await expect(execute(byId("offer", runs))).rejects.toEqual(failing("unavailable", "stale"));
    expect(runs).toEqual([]);
    expect(waits).toEqual(NONE);
  });

  test("ends when the store is current again", async () => {
    let reason: string | undefined = "stale";
    const { execute } = await setUp({ contracts: [offer], staleReason: () => reason });
    await expect(execute(byId("offer"))).rejects.toEqual(failing("unavailable", "stale"));
    reason = undefined;
    expect(await execute(byId("offer"))).toBe("offer");
  });
});

test("all runs of a query have the time at which it came", async () => {
  const clock = { now: 1_000 };
  const { execute } = await setUp({
    now: () => clock.now,
    async *catchUp(store) {
      clock.now = 1_700;
      yield* arriving(offer)(store);
    },
  });
  const moments: number[] = [];
  await execute((served, context) => {
    moments.push(context.now);
    return byId("offer")(served, context);
  });
  expect(moments).toEqual([1_000, 1_000, 1_000]);
});

test("a query that exceeds a limit of the store is unavailable, and says which", async () => {
  const exceeding = {
    read(): never {
      throw new StoreUnavailable("too many", { limit: "lookups", maximum: 5 });
    },
  };
  const { execute } = await setUp({ reader: () => exceeding });
  const details = { code: "read-limit-exceeded", about: { limit: "lookups", maximum: 5 } };
  await expect(execute(byId("offer"))).rejects.toMatchObject({ reason: "unavailable", message: "too many", details });
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
    expect(waits).toEqual(NONE);
  });
});

describe("what a query looks up", () => {
  test("is not recorded unless somebody wants it", async () => {
    const views: View[] = [];
    const { execute } = await setUp({
      contracts: [offer],
      reader: (store) => ({
        read: (use) =>
          store.read((view) => {
            views.push(view);
            return use(view);
          }),
      }),
    });
    let seen: View | undefined;
    await execute((_registry, context) => {
      seen = context.view;
      context.mayChangeAt(unread);
      expect(context.recorder).toBeUndefined();
    });
    expect(views).toHaveLength(1);
    expect(seen).toBe(views[0]);
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
    const { executor } = await setUp();
    const recording = new Recording();
    await executor.execute((_registry, { view }) => view.asOf, recording);
    expect(recording.last?.tags).toBeUndefined();
  });

  test("is decided as at the time of the recording", async () => {
    const { executor } = await setUp({ now: () => 1_000 });
    const answer = await executor.execute((_registry, { now }) => now, new Recording(true, 7_000));
    expect(answer.value).toBe(7_000);
  });
});

test("a second query sees what the first has awaited", async () => {
  const { execute, waits } = await setUp({ catchUp: arriving(offer) });
  await execute(byId("offer"));
  expect(await execute(byId("offer"))).toBe("offer");
  expect(waits).toEqual(ONE);
});

test("a registry method that returns a promise is an error", async () => {
  const { executor } = await setUp({ contracts: [offer] });
  const waiting = () => executor.execute(() => Promise.reject(new Error("later")));
  expect(waiting).toThrow("registry Registry Utility returned a promise");
});
