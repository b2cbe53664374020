/** Read-your-writes: what is asked when the store has not caught up with the ledger. */
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

interface Asking {
  readonly store: MemoryStore;
  readonly engine: QueryExecutor;
  /** What the engine says at once or later, and throws as the one or the other. */
  readonly ask: <T>(question: Question<T>) => Promise<T>;
  /** The offsets for which it was waited. */
  readonly waits: number[];
}

interface AskingOptions {
  readonly refusal?: () => string | undefined;
  /** What happens to the store while it is waited; says whether it moved. */
  readonly catchUp?: (store: MemoryStore, offset: number) => Promise<boolean> | boolean;
  readonly contracts?: readonly Contract[];
  readonly now?: () => number;
  /** What the engine reads, on the store; the store itself where not said. */
  readonly reader?: (store: MemoryStore) => StoreReader;
}

/** An engine on a store at offset 10. */
async function asking(options: AskingOptions = {}): Promise<Asking> {
  const store = new MemoryStore();
  await store.replace(options.contracts ?? [], 10);
  return over(store, options);
}

function over(store: MemoryStore, { refusal, catchUp, now, reader }: AskingOptions = {}): Asking {
  const waits: number[] = [];
  const freshness: Freshness = {
    staleReason: refusal ?? (() => undefined),
    async catchUp(offset) {
      waits.push(offset);
      return (await catchUp?.(store, offset)) ?? false;
    },
  };
  const executor = new QueryExecutor(registry, reader?.(store) ?? store, freshness, now ?? (() => 0));
  return { store, engine: executor, ask: async (question) => executor.execute(question), waits };
}

/** A store on which the first run of the first reading does not count, as where it moves while it fetches. */
class MovingReader implements StoreReader {
  readonly #store: MemoryStore;
  readonly #move: (store: MemoryStore) => Promise<void>;
  #isFirst = true;

  /** `move` is what happens to the store behind the first run. */
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
        // What is thrown by a run that does not count is not told.
      }
      await this.#move(this.#store);
    }
    return this.#store.read(use);
  }
}

type Question<T> = (registry: Registry, context: RequestContext) => T;

/** Asks for one contract by id, and fails as an operation does where it is not there. */
const byId =
  (contractId: string, runs: number[] = []): Question<string> =>
  (_registry, { view }) => {
    runs.push(view.offset);
    const found = view.byId(transferOffer, contractId);
    if (found === undefined) throw notFound(`no contract ${contractId} at ${view.offset}`);
    return found.contractId;
  };

/** The same, and goes on without it where it is not there. */
const without: Question<string | undefined> = (asked, context) => {
  try {
    return byId("offer")(asked, context);
  } catch (error) {
    if (error instanceof RegistryError) return undefined;
    throw error;
  }
};

const both: Question<string[]> = (asked, context) => [byId("offer")(asked, context), byId("other")(asked, context)];

const byKey: Question<string> = (_registry, { view }) => {
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

describe("a contract that the store has not seen", () => {
  test("is waited for, and answered when it has come", async () => {
    const runs: number[] = [];
    const { ask, waits } = await asking({ catchUp: arriving(offer) });
    expect(await ask(byId("offer", runs))).toBe("offer");
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10, 20]);
  });

  test("is waited for by an operation of the registry", async () => {
    const pending = contractsOf(instructions());
    const { ask, waits } = await asking({
      contracts: contractsOf(registryOf()),
      catchUp: async (store) => {
        await store.apply(
          pending.map((active) => ({ active })),
          20,
        );
        return true;
      },
    });
    const answer = await ask((asked, context) =>
      asked.choiceContext(context, "transfer-instruction/reject", {
        registrar: parties.registrar,
        contractId: "offer",
      }),
    );
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([10]);
  });

  test("is not there, by what the store says after the wait", async () => {
    const { ask, waits } = await asking({ catchUp: arriving(other) });
    await expect(ask(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 20"));
    expect(waits).toEqual([10]);
  });

  test("is not there where the store does not move, and the question is put once", async () => {
    const runs: number[] = [];
    const { ask, waits } = await asking({ catchUp: () => false });
    await expect(ask(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 10"));
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10]);
  });

  test("is waited for once, though the question misses another thereafter", async () => {
    const { ask, waits } = await asking({ catchUp: arriving(offer) });
    await expect(ask(both)).rejects.toEqual(failing("not-found", "no contract other at 20"));
    expect(waits).toEqual([10]);
  });

  test("is waited for by many at once", async () => {
    let arrived: Promise<boolean> | undefined;
    const { ask, waits } = await asking({ catchUp: (store) => (arrived ??= arriving(offer)(store)) });
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(byId("offer"))));
    expect(new Set(answers)).toEqual(new Set(["offer"]));
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.length).toBeLessThanOrEqual(200);
  });

  test("is waited for where it is one of several that are looked for", async () => {
    const { ask, waits } = await asking({ contracts: [other], catchUp: arriving(offer) });
    const answer = ask((_registry, { view }) => {
      const missing = view.byId(transferOffer, "offer");
      expect(view.byId(transferOffer, "other")?.payload).toBe(other.payload);
      expect(view.byKey(transferOffer, "none")).toEqual([]);
      if (missing === undefined) throw notFound("the offer is missing");
      return missing.contractId;
    });
    expect(await answer).toBe("offer");
    expect(waits).toEqual([10]);
  });

  test("has come while the question was put: it is put again, and nothing waits", async () => {
    const { ask, waits } = await asking({
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const runs: number[] = [];
    expect(await ask(byId("offer", runs))).toBe("offer");
    expect(runs).toEqual([10, 11]);
    expect(waits).toEqual([]);
  });

  test("counts as missed at the offset at which the last attempt missed it", async () => {
    const { ask, waits } = await asking({
      catchUp: () => false,
      reader: (store) => new MovingReader(store, () => store.apply([], 17)),
    });
    const runs: number[] = [];
    await expect(ask(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 17"));
    expect(runs).toEqual([10, 17]);
    expect(waits).toEqual([17]);
  });

  test("does not count as missed where the last attempt fails for another reason", async () => {
    const { ask, waits } = await asking({
      catchUp: () => true,
      reader: (store) => new MovingReader(store, () => store.apply([{ active: offer }], 11)),
    });
    const answer = ask((asked, context) => {
      byId("offer")(asked, context);
      throw invalid("wrong");
    });
    await expect(answer).rejects.toEqual(failing("invalid", "wrong"));
    expect(waits).toEqual([]);
  });

  test("is looked for in the registry's own way where its answer is found on the second run", async () => {
    const { ask, waits } = await asking({
      contracts: contractsOf(registryOf()),
      reader: (store) =>
        new MovingReader(store, () =>
          store.apply(
            contractsOf(instructions()).map((active) => ({ active })),
            11,
          ),
        ),
    });
    const question = { registrar: parties.registrar, contractId: "offer" };
    const answer = await ask((asked, context) => asked.choiceContext(context, "transfer-instruction/accept", question));
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([]);
  });
});

describe("nothing waits", () => {
  test("for a contract that is there", async () => {
    const { ask, waits } = await asking({ contracts: [offer] });
    expect(await ask(byId("offer"))).toBe("offer");
    expect(waits).toEqual([]);
  });

  test("for a contract that is known to be archived", async () => {
    const { ask, store, waits } = await asking({ contracts: [offer], catchUp: () => true });
    await store.apply([{ archived: "offer" }], 11);
    await expect(ask(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 11"));
    expect(waits).toEqual([]);
  });

  test("for what is asked by key", async () => {
    const { ask, waits } = await asking({ catchUp: arriving(offer) });
    await expect(ask(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    expect(waits).toEqual([]);
  });

  test("where the question is answered without the contract", async () => {
    const { ask, waits } = await asking({ catchUp: () => true });
    expect(await ask((asked, context) => without(asked, context) ?? "without")).toBe("without");
    expect(waits).toEqual([]);
  });

  test.each<[string, Error]>([
    ["an invalid question", invalid("wrong")],
    ["a conflict", conflict("between")],
    ["what is unavailable", unavailable("later")],
    ["a defect", new TypeError("broken")],
  ])("for %s, though a contract was missed", async (_what, error) => {
    const { ask, waits } = await asking({ catchUp: () => true });
    const answer = ask((asked, context) => {
      without(asked, context);
      throw error;
    });
    await expect(answer).rejects.toBe(error);
    expect(waits).toEqual([]);
  });
});

test("a contract that is missed beside one that is archived is waited for", async () => {
  const { ask, store, waits } = await asking({ contracts: [other], catchUp: () => false });
  await store.apply([{ archived: "other" }], 11);
  const answer = ask((asked, context) => {
    expect(context.view.byId(transferOffer, "other")).toBeUndefined();
    return byId("offer")(asked, context);
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no contract offer at 11"));
  expect(waits).toEqual([11]);
});

test("a contract of another kind than asked for is not found, whatever the wait brings", async () => {
  const { ask } = await asking({ contracts: [offer], catchUp: arriving(other) });
  const answer = ask((_registry, { view }) => {
    const found = view.byId(burnOffer, "offer");
    if (found === undefined) throw notFound("no burn offer");
    return found;
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no burn offer"));
});

describe("what cannot be answered now", () => {
  test("is told before the first snapshot", async () => {
    const { ask, waits } = over(new MemoryStore(), { catchUp: () => true });
    const message = "no snapshot of the ledger has been taken yet";
    await expect(ask(byId("offer"))).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual([]);
  });

  test("is told where the store is stale, and the question is not put", async () => {
    const runs: number[] = [];
    const { ask, waits } = await asking({ contracts: [offer], refusal: () => "stale", catchUp: () => true });
    await expect(ask(byId("offer", runs))).rejects.toEqual(failing("unavailable", "stale"));
    expect(runs).toEqual([]);
    expect(waits).toEqual([]);
  });

  test("is answered again when the store is recent", async () => {
    let refusal: string | undefined = "stale";
    const { ask } = await asking({ contracts: [offer], refusal: () => refusal });
    await expect(ask(byId("offer"))).rejects.toEqual(failing("unavailable", "stale"));
    refusal = undefined;
    expect(await ask(byId("offer"))).toBe("offer");
  });
});

test("a question is put at the moment at which it is asked, and again at the moment of the second look", async () => {
  const clock = { now: 1_000 };
  const { ask } = await asking({
    now: () => clock.now,
    catchUp: (store) => {
      clock.now = 1_700;
      return arriving(offer)(store);
    },
  });
  const moments: number[] = [];
  await ask((asked, context) => {
    moments.push(context.now);
    return byId("offer")(asked, context);
  });
  expect(moments).toEqual([1_000, 1_700]);
});

describe("an answer comes without a promise", () => {
  test("where the store has everything at hand", async () => {
    const { engine } = await asking({ contracts: [offer] });
    expect(engine.execute(byId("offer"))).toBe("offer");
    expect(engine.executeUtility((_utility, { view }) => view.offset)).toBe(10);
  });

  test("and a failure too, where nothing is waited for", async () => {
    const { engine } = await asking();
    expect(() => engine.execute(byKey)).toThrow(failing("not-found", "no contract of that key"));
    const { engine: stale } = await asking({ refusal: () => "stale" });
    expect(() => stale.execute(byKey)).toThrow(failing("unavailable", "stale"));
    const { engine: empty } = over(new MemoryStore());
    expect(() => empty.execute(byKey)).toThrow(failing("unavailable", "no snapshot of the ledger has been taken yet"));
  });

  test("and with one where the store gives one, or where it is waited", async () => {
    const { engine } = await asking({ contracts: [offer], reader: (store) => new MovingReader(store, async () => {}) });
    const answer = engine.execute(byId("offer"));
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toBe("offer");
    const { engine: waiting } = await asking({ catchUp: arriving(offer) });
    const late = waiting.execute(byId("offer"));
    expect(late).toBeInstanceOf(Promise);
    expect(await late).toBe("offer");
  });

  test("and what a promised reading fails with is told as any other", async () => {
    const { ask, waits } = await asking({ reader: (store) => new MovingReader(store, async () => {}) });
    await expect(ask(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    const { ask: askEmpty } = over(new MemoryStore(), { reader: (store) => new MovingReader(store, async () => {}) });
    const message = "no snapshot of the ledger has been taken yet";
    await expect(askEmpty(byKey)).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual([]);
  });
});

test("a second question sees what the first has waited for", async () => {
  const { ask, waits } = await asking({ catchUp: arriving(offer) });
  await ask(byId("offer"));
  expect(await ask(byId("offer"))).toBe("offer");
  expect(waits).toEqual([10]);
});

test("a registry that gives a promise in place of an answer has a defect, and is told so", async () => {
  const { engine } = await asking({ contracts: [offer] });
  const waiting = () => engine.execute(() => Promise.reject(new Error("later")));
  expect(waiting).toThrow("the registry Registry Utility gave a promise");
});
