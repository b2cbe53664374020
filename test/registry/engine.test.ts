/** Read-your-writes: what is asked when the store has not caught up with the ledger. */
import { describe, expect, test } from "vitest";
import { Decoder } from "../../src/ledger/decode.js";
import { Engine, type Freshness } from "../../src/registry/engine.js";
import { conflict, invalid, notFound, type RegistryError, unavailable } from "../../src/registry/errors.js";
import type { Registry, Scene } from "../../src/registry/registry.js";
import { burnOffer, transferOffer } from "../../src/registry/utility/kinds/instructions.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MemoryStore } from "../../src/store/memory.js";
import { type Contract, isHeld, type JsonObject } from "../../src/store/store.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";

const registry = utilityRegistry({
  settlementLimits: { legs: 10, allocations: 10, instruments: 10, accounts: 10, parties: 10 },
});
const decoder = new Decoder(registry.kinds);

const contractsOf = (elements: readonly JsonObject[]): Contract[] =>
  elements.map((given) => {
    const entry = decoder.decode(given);
    if (entry === undefined || !isHeld(entry.contract)) throw new Error("the element was not kept");
    return entry.contract;
  });

const [offer, other] = contractsOf([
  element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
  element("TransferOffer", "other", payload.offer("alice", "bob", "USD", "locked")),
]) as [Contract, Contract];

interface Asking {
  readonly store: MemoryStore;
  readonly engine: Engine;
  /** The offsets for which it was waited. */
  readonly waits: number[];
}

interface AskingOptions {
  readonly refusal?: () => string | undefined;
  /** What happens to the store while it is waited; says whether it moved. */
  readonly catchUp?: (store: MemoryStore, offset: number) => Promise<boolean> | boolean;
  readonly contracts?: readonly Contract[];
  readonly now?: () => number;
}

/** An engine on a store at offset 10. */
async function asking(options: AskingOptions = {}): Promise<Asking> {
  const store = new MemoryStore();
  await store.replace(options.contracts ?? [], 10);
  return over(store, options);
}

function over(store: MemoryStore, { refusal, catchUp, now }: AskingOptions = {}): Asking {
  const waits: number[] = [];
  const freshness: Freshness = {
    refusal: refusal ?? (() => undefined),
    async catchUp(offset) {
      waits.push(offset);
      return (await catchUp?.(store, offset)) ?? false;
    },
  };
  return { store, engine: new Engine(registry, store, freshness, now ?? (() => 0)), waits };
}

type Question<T> = (registry: Registry, scene: Scene) => Promise<T>;

/** Asks for one contract by id, and fails as an operation does where it is not there. */
const byId =
  (contractId: string, runs: number[] = []): Question<string> =>
  async (_registry, { view }) => {
    runs.push(view.offset);
    const [[found]] = await view.read([{ kind: transferOffer, contractId }]);
    if (found === undefined) throw notFound(`no contract ${contractId} at ${view.offset}`);
    return found.contractId;
  };

const both: Question<string[]> = async (asked, scene) => [
  await byId("offer")(asked, scene),
  await byId("other")(asked, scene),
];

const byKey: Question<string> = async (_registry, { view }) => {
  const [[found]] = await view.read([{ kind: transferOffer, key: "none" }]);
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
    const { engine, waits } = await asking({ catchUp: arriving(offer) });
    expect(await engine.ask(byId("offer", runs))).toBe("offer");
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10, 20]);
  });

  test("is waited for by an operation of the registry", async () => {
    const pending = contractsOf(instructions());
    const { engine, waits } = await asking({
      contracts: contractsOf(registryOf()),
      catchUp: async (store) => {
        await store.apply(
          pending.map((active) => ({ active })),
          20,
        );
        return true;
      },
    });
    const answer = await engine.ask((asked, scene) =>
      asked.choiceContext(scene, "transfer-instruction/reject", {
        registrar: parties.registrar,
        contractId: "offer",
      }),
    );
    expect(answer.disclosed.map(({ contractId }) => contractId)).toContain("locked");
    expect(waits).toEqual([10]);
  });

  test("is not there, by what the store says after the wait", async () => {
    const { engine, waits } = await asking({ catchUp: arriving(other) });
    await expect(engine.ask(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 20"));
    expect(waits).toEqual([10]);
  });

  test("is not there where the store does not move, and the question is put once", async () => {
    const runs: number[] = [];
    const { engine, waits } = await asking({ catchUp: () => false });
    await expect(engine.ask(byId("offer", runs))).rejects.toEqual(failing("not-found", "no contract offer at 10"));
    expect(waits).toEqual([10]);
    expect(runs).toEqual([10]);
  });

  test("is waited for once, though the question misses another thereafter", async () => {
    const { engine, waits } = await asking({ catchUp: arriving(offer) });
    await expect(engine.ask(both)).rejects.toEqual(failing("not-found", "no contract other at 20"));
    expect(waits).toEqual([10]);
  });

  test("is waited for by many at once", async () => {
    let arrived: Promise<boolean> | undefined;
    const { engine, waits } = await asking({ catchUp: (store) => (arrived ??= arriving(offer)(store)) });
    const answers = await Promise.all(Array.from({ length: 200 }, () => engine.ask(byId("offer"))));
    expect(new Set(answers)).toEqual(new Set(["offer"]));
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.length).toBeLessThanOrEqual(200);
  });

  test("is waited for where it is one of several questions of a round", async () => {
    const { engine, waits } = await asking({ contracts: [other], catchUp: arriving(offer) });
    const answer = engine.ask(async (_registry, { view }) => {
      const [known, key, [missing]] = await view.read([
        { kind: transferOffer, contractId: "other" },
        { kind: transferOffer, key: "none" },
        { kind: transferOffer, contractId: "offer" },
      ]);
      expect(known).toHaveLength(1);
      expect(key).toEqual([]);
      if (missing === undefined) throw notFound("the offer is missing");
      return missing.contractId;
    });
    expect(await answer).toBe("offer");
    expect(waits).toEqual([10]);
  });

  test("has come while the question was put: it is put again, and nothing waits", async () => {
    const { engine, store, waits } = await asking();
    let runs = 0;
    const answer = await engine.ask(async (asked, scene) => {
      const first = await byId("offer")(asked, scene).catch(() => undefined);
      if (++runs === 1) await store.apply([{ active: offer }], 11);
      const [[second]] = await scene.view.read([{ kind: transferOffer, contractId: "offer" }]);
      if (first === undefined || second === undefined) throw notFound("mixed");
      return second.contractId;
    });
    expect(answer).toBe("offer");
    expect(runs).toBe(2);
    expect(waits).toEqual([]);
  });

  test("counts as missed at the offset at which the last attempt missed it", async () => {
    const { engine, store, waits } = await asking({ catchUp: () => false });
    let runs = 0;
    const answer = engine.ask(async (asked, scene) => {
      if (++runs === 1) {
        await store.apply([], 17);
        await scene.view.read([]);
      }
      return byId("offer")(asked, scene);
    });
    await expect(answer).rejects.toEqual(failing("not-found", "no contract offer at 17"));
    expect(waits).toEqual([17]);
  });
});

describe("nothing waits", () => {
  test("for a contract that is there", async () => {
    const { engine, waits } = await asking({ contracts: [offer] });
    expect(await engine.ask(byId("offer"))).toBe("offer");
    expect(waits).toEqual([]);
  });

  test("for a contract that is known to be archived", async () => {
    const { engine, store, waits } = await asking({ contracts: [offer], catchUp: () => true });
    await store.apply([{ archived: "offer" }], 11);
    await expect(engine.ask(byId("offer"))).rejects.toEqual(failing("not-found", "no contract offer at 11"));
    expect(waits).toEqual([]);
  });

  test("for what is asked by key", async () => {
    const { engine, waits } = await asking({ catchUp: arriving(offer) });
    await expect(engine.ask(byKey)).rejects.toEqual(failing("not-found", "no contract of that key"));
    expect(waits).toEqual([]);
  });

  test("where the question is answered without the contract", async () => {
    const { engine, waits } = await asking({ catchUp: () => true });
    const answer = engine.ask((asked, scene) => byId("offer")(asked, scene).catch(() => "without"));
    expect(await answer).toBe("without");
    expect(waits).toEqual([]);
  });

  test.each<[string, Error]>([
    ["an invalid question", invalid("wrong")],
    ["a conflict", conflict("between")],
    ["what is unavailable", unavailable("later")],
    ["a defect", new TypeError("broken")],
  ])("for %s, though a contract was missed", async (_what, error) => {
    const { engine, waits } = await asking({ catchUp: () => true });
    const answer = engine.ask(async (asked, scene) => {
      await byId("offer")(asked, scene).catch(() => undefined);
      throw error;
    });
    await expect(answer).rejects.toBe(error);
    expect(waits).toEqual([]);
  });
});

test("a contract that is missed beside one that is archived is waited for", async () => {
  const { engine, store, waits } = await asking({ contracts: [other], catchUp: () => false });
  await store.apply([{ archived: "other" }], 11);
  const answer = engine.ask(async (asked, scene) => {
    await byId("other")(asked, scene).catch(() => undefined);
    return byId("offer")(asked, scene);
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no contract offer at 11"));
  expect(waits).toEqual([11]);
});

test("a contract of another kind than asked for is not found, whatever the wait brings", async () => {
  const { engine } = await asking({ contracts: [offer], catchUp: arriving(other) });
  const answer = engine.ask(async (_registry, { view }) => {
    const [found] = await view.read([{ kind: burnOffer, contractId: "offer" }]);
    if (found.length === 0) throw notFound("no burn offer");
    return found;
  });
  await expect(answer).rejects.toEqual(failing("not-found", "no burn offer"));
});

describe("what cannot be answered now", () => {
  test("is told before the first snapshot", async () => {
    const { engine, waits } = over(new MemoryStore(), { catchUp: () => true });
    const message = "no snapshot of the ledger has been taken yet";
    await expect(engine.ask(byId("offer"))).rejects.toEqual(failing("unavailable", message));
    expect(waits).toEqual([]);
  });

  test("is told where the store is stale, and the question is not put", async () => {
    const runs: number[] = [];
    const { engine, waits } = await asking({ contracts: [offer], refusal: () => "stale", catchUp: () => true });
    await expect(engine.ask(byId("offer", runs))).rejects.toEqual(failing("unavailable", "stale"));
    expect(runs).toEqual([]);
    expect(waits).toEqual([]);
  });

  test("is answered again when the store is recent", async () => {
    let refusal: string | undefined = "stale";
    const { engine } = await asking({ contracts: [offer], refusal: () => refusal });
    await expect(engine.ask(byId("offer"))).rejects.toEqual(failing("unavailable", "stale"));
    refusal = undefined;
    expect(await engine.ask(byId("offer"))).toBe("offer");
  });
});

test("a question is put at the moment at which it is asked, and again at the moment of the second look", async () => {
  const clock = { now: 1_000 };
  const { engine } = await asking({
    now: () => clock.now,
    catchUp: (store) => {
      clock.now = 1_700;
      return arriving(offer)(store);
    },
  });
  const moments: number[] = [];
  await engine.ask((asked, scene) => {
    moments.push(scene.now);
    return byId("offer")(asked, scene);
  });
  expect(moments).toEqual([1_000, 1_700]);
});

test("a second question sees what the first has waited for", async () => {
  const { engine, waits } = await asking({ catchUp: arriving(offer) });
  await engine.ask(byId("offer"));
  expect(await engine.ask(byId("offer"))).toBe("offer");
  expect(waits).toEqual([10]);
});
