/** A follower of a log in memory. test/simulation shows it together with a mirror, and with faults. */
import { once } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Change, CountedOnly } from "../../src/domain/contract.js";
import type { LoggedState, StateLog } from "../../src/state/log.js";
import { Follower } from "../../src/state/follower.js";
import {
  idHash,
  indexKeyHash,
  registrarHash,
  sumHash,
  tagOf,
  tallyHash,
  templateHash,
} from "../../src/state/lookup-hash.js";
import { NotReady, StoreUnavailable } from "../../src/state/port.js";
import { processHeap, StateTooLarge } from "../../src/state/load-state.js";
import { followedWriter } from "../fixtures/follower.js";
import { byLabel, counted, fruit } from "../fixtures/fruits.js";
import { gate, MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import { ArrayLog, LeaseLost } from "./array-log.js";
import { storeConformance } from "./conformance/conformance.js";
import { active, apple, GROWER, on, pear } from "./conformance/subject.js";

const SOON_MS = 5_000;
const silent = () => undefined;

const named = (id: string): CountedOnly => ({
  ...counted(id, 5n),
  supply: { sum: "USD", amount: 5n, tally: { group: "cherries", name: "USD" } },
});

function follow(log: ArrayLog, options: Partial<ConstructorParameters<typeof Follower>[0]> = {}) {
  const { signal } = new AbortController();
  const pause = () => new Promise<void>(() => undefined);
  return new Follower({
    log,
    clock: () => performance.now(),
    pause,
    signal,
    onLost: silent,
    onRecovered: silent,
    onTooLarge: silent,
    onNearlyFull: silent,
    ...options,
  });
}

storeConformance("a follower of a log", async () => {
  const log = new ArrayLog();
  const follower = follow(log);
  const writer = followedWriter(log.begin(), () => follower.refresh());
  return { reader: follower, writer, keepsBodiesApart: true, close: async () => {} };
});

/** A log that can be made to fail, and a follower of it whose pauses, or those that are shorter, last until `wake`. */
function setup(deliver?: (notice: () => void) => void) {
  /** How many calls to the log pass before one fails. */
  const failing = { after: Infinity };
  const pass = async () => {
    if (failing.after-- <= 0) throw new StoreUnavailable("of the test");
  };
  const log = new ArrayLog({ pass, ...(deliver && { deliver }) });
  const load = vi.spyOn(log, "load");
  /** Of each load: the generation that was asked for, if not the served one. */
  const loads = () => load.mock.calls.map(([, , next]) => next ?? "served");
  const events: string[] = [];
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const end = new AbortController();
  const follower = follow(log, {
    pause: async (ms) => {
      if (!end.signal.aborted) await new Promise<void>((resolve) => void pauses.push({ ms, end: resolve }));
    },
    signal: end.signal,
    onLost: (error) => void events.push(`lost: ${String(error)}`),
    onRecovered: () => void events.push("recovered"),
  });
  const wake = (shorter = Infinity) => {
    const all = pauses.splice(0);
    for (const one of all) if (one.ms < shorter) one.end();
    pauses.push(...all.filter(({ ms }) => ms >= shorter));
  };
  onTestFinished(() => {
    end.abort();
    log.endSessions();
    wake();
  });
  const ids = () => follower.read((view) => view.all(apple).map(({ contractId }) => contractId));
  let preparing = async () => {};
  const replacing = { filling: async () => {}, preparing: () => preparing() };
  const begin = () => log.begin(undefined, replacing);
  /** Called by later replacements while a filled generation is not served yet. */
  const beforeSwap = (use: () => Promise<void>) => void (preparing = use);
  return { log, writer: begin(), begin, beforeSwap, load, loads, follower, failing, events, pauses, wake, end, ids };
}

const archive = (id: string): Change => ({ archived: id });
const at = (offset: number, generation = "1") => ({ generation, offset, asOf: undefined });

describe("a reload", () => {
  const places = [
    fruit("a"),
    fruit("b", on("B", 1)),
    fruit("c", { synchronizerId: undefined, reassignmentCounter: 1 }),
  ];

  async function objects({ follower }: ReturnType<typeof setup>) {
    await follower.refresh();
    return follower.read((view) => ["a", "b", "c"].map((id) => view.byId(apple, id)));
  }

  test("keeps the contracts that are the same", async () => {
    const { writer, ...rest } = setup();
    await writer.replace(places, 5);
    const before = await objects({ writer, ...rest });
    await writer.replace([fruit("a"), fruit("b", on("C", 1)), fruit("c", on("B", 1)), fruit("d")], 7);
    const after = await objects({ writer, ...rest });
    expect(after[0]).toBe(before[0]);
    expect(after.map((one) => one?.synchronizerId)).toEqual(["sync-A", "sync-C", "sync-B"]);
    expect(before.map((one) => one?.synchronizerId)).toEqual(["sync-A", "sync-B", undefined]);
  });

  test("keeps none of another origin", async () => {
    const context = setup();
    await context.writer.replace(places, 5);
    const before = await objects(context);
    await context.log.begin("another ledger").replace(places, 5);
    const after = await objects(context);
    expect(after).toEqual(before);
    for (const [index, one] of after.entries()) expect(one).not.toBe(before[index]);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("that fails keeps the state, and is repeated: after %i calls", async (after) => {
    const { log, writer, follower, failing, ids } = setup();
    await writer.replace([fruit("a")], 5);
    await follower.refresh();
    await writer.replace([fruit("b")], 3);
    await writer.apply([active("c"), archive("b")], 4, undefined, "update-4");
    failing.after = after;
    await expect(follower.refresh()).rejects.toThrow(StoreUnavailable);
    expect([ids(), follower.status.offset, follower.changes.position]).toEqual([["a"], 5, at(5)]);
    expect(follower.status.failure).toBeInstanceOf(StoreUnavailable);
    failing.after = Infinity;
    await follower.refresh();
    expect([ids(), follower.status, follower.changes.position]).toMatchObject([["c"], { offset: 4 }, at(4, "2")]);
    expect(follower.status.failure).toBeUndefined();
    expect(log.latest?.generation).toBe(2);
  });
});

describe("the next generation", () => {
  /** A follower of generation 1, and the second, which is filled: `replaced` resolves when it is served. */
  async function filled(prepare: (context: ReturnType<typeof setup>) => Promise<void>) {
    const context = setup();
    await context.writer.replace([fruit("a"), fruit("b")], 5);
    await context.follower.refresh();
    context.beforeSwap(() => prepare(context));
    await context.writer.replace([fruit("b"), fruit("c")], 7);
    return context;
  }
  const refreshed = async ({ follower, load }: ReturnType<typeof setup>) => {
    await follower.refresh();
    await load.mock.results.at(-1)?.value;
  };

  test("is loaded beside the one that is served, and served at once, with what has come since", async () => {
    const { writer, follower, ids, loads } = await filled(async (context) => {
      await refreshed(context);
      expect([context.ids(), context.loads()]).toEqual([
        ["a", "b"],
        ["served", 2],
      ]);
      // It is loaded once.
      await refreshed(context);
    });
    await writer.apply([active("d"), archive("c")], 8, undefined, "update-8");
    const seen: string[] = [];
    follower.changes.subscribe(() => seen.push(ids().join(" ")));
    await follower.refresh();
    expect([ids(), seen, follower.changes.position]).toEqual([["b", "d"], ["b d"], at(8, "2")]);
    expect(loads()).toEqual(["served", 2]);
    await writer.apply([active("e")], 9, undefined, "update-9");
    await follower.refresh();
    expect([ids(), loads()]).toEqual([
      ["b", "d", "e"],
      ["served", 2],
    ]);
  });

  test("has the same objects where contracts are the same", async () => {
    const seen: unknown[] = [];
    const look = ({ follower }: ReturnType<typeof setup>) => seen.push(follower.read((view) => view.byId(apple, "b")));
    const context = await filled(async (preparing) => {
      await refreshed(preparing);
      look(preparing);
    });
    await context.follower.refresh();
    look(context);
    expect(seen[1]).toBe(seen[0]);
  });

  test("is not loaded twice if it is served while it is loaded", async () => {
    const resumed = gate();
    const { follower, ids, loads } = await filled(async ({ log, follower: preparing, load }) => {
      const original: StateLog["load"] = ArrayLog.prototype.load.bind(log);
      load.mockImplementationOnce((use, ...args) =>
        original(
          async (state) => {
            await resumed.opened;
            return use(state);
          },
          ...args,
        ),
      );
      await preparing.refresh();
    });
    const refreshing = follower.refresh();
    expect(ids()).toEqual(["a", "b"]);
    resumed.open();
    await refreshing;
    expect([ids(), loads()]).toEqual([
      ["b", "c"],
      ["served", 2],
    ]);
  });

  test("is loaded again if the log was away", async () => {
    const { follower, ids, loads } = await filled(async (context) => {
      // The poll, and a call of the load.
      context.failing.after = 3;
      await refreshed(context).catch(() => undefined);
      context.failing.after = Infinity;
      await refreshed(context);
      await refreshed(context);
    });
    await follower.refresh();
    expect([ids(), loads()]).toEqual([
      ["b", "c"],
      ["served", 2, 2],
    ]);
  });

  test("is dropped when another mirror gives it up, and the one after that is served", async () => {
    const context = setup();
    const { writer, follower, begin, beforeSwap, load, loads, ids } = context;
    await writer.replace([fruit("a")], 5);
    await follower.refresh();
    const signals: (boolean | undefined)[] = [];
    beforeSwap(async () => {
      await refreshed(context);
      const given = load.mock.calls.at(-1)?.[1];
      signals.push(given?.aborted);
      const next = begin();
      await refreshed(context);
      signals.push(given?.aborted);
      beforeSwap(() => refreshed(context));
      await next.replace([fruit("c")], 6);
    });
    await expect(writer.replace([fruit("b")], 6)).rejects.toThrow(LeaseLost);
    expect(signals).toEqual([false, true]);
    await follower.refresh();
    expect([ids(), loads()]).toEqual([["c"], ["served", 2, 3]]);
  });

  test("is loaded anew if no step leads on from it", async () => {
    const { log, writer, follower, ids, loads } = await filled(refreshed);
    await writer.apply([active("d")], 8, undefined, "update-8");
    log.trim(8);
    await follower.refresh();
    expect([ids(), loads()]).toEqual([
      ["b", "c", "d"],
      ["served", 2, "served"],
    ]);
  });

  test("that is being loaded does not hold up the end", async () => {
    const context = setup();
    const { writer, follower, beforeSwap, load, end, wake } = context;
    await writer.replace([fruit("a")], 5);
    let given: AbortSignal | undefined;
    const running = follower.run();
    await until("it follows", () => follower.status.offset === 5);
    beforeSwap(async () => {
      load.mockImplementationOnce(async (_use, signal) => {
        given = signal;
        await once(signal, "abort");
        throw new StoreUnavailable("of the test");
      });
      await until("it is loaded", () => given !== undefined);
    });
    await writer.replace([fruit("b")], 6);
    // It is served by now, and awaited.
    void follower.refresh().catch(() => undefined);
    end.abort();
    wake();
    await running;
    expect(given?.aborted).toBe(true);
  });
});

describe("without notices", () => {
  const lostNotices = async () => {
    const context = setup(() => undefined);
    await context.writer.replace([], 5);
    const running = context.follower.run();
    const follows = (offset: number) => until(`it is at ${offset}`, () => context.follower.status.offset === offset);
    await follows(5);
    const end = () => {
      context.end.abort();
      context.wake();
      return running;
    };
    return { ...context, follows, end };
  };

  test("a follower reads the log each second, and tells once that it is lost, and once that it is back", async () => {
    const { writer, failing, events, pauses, wake, follows, end } = await lostNotices();
    const polled = () => until("it pauses", () => pauses.some(({ ms }) => ms === 1_000));
    await polled();
    await writer.apply([], 6);
    wake();
    await follows(6);
    for (let round = 1; round <= 2; round++) {
      failing.after = 0;
      for (let poll = 0; poll < 3; poll++) {
        await polled();
        wake();
      }
      await polled();
      failing.after = Infinity;
      wake();
      await until("it is back", () => events.length >= 2 * round);
    }
    const both = ["lost: StoreUnavailable: of the test", "recovered"];
    expect(events).toEqual([...both, ...both]);
    await end();
  });

  test("a follower whose connection was lost reads the log as soon as it listens again", async () => {
    const { log, writer, pauses, wake, follows, end } = await lostNotices();
    const listensLater = () => pauses.some(({ ms }) => ms < 1_000);
    await until("it polls", () => pauses.length === 1);
    await writer.apply([], 6);
    log.endSessions();
    await until("it pauses before it listens", listensLater);
    wake(1_000);
    await follows(6);
    expect(pauses.map(({ ms }) => ms)).toContain(1_000);
    await end();
  });
});

test("a load does not hold up the end", async () => {
  const { writer, follower, load, end, wake, events } = setup();
  await writer.replace([fruit("a")], 5);
  let isEnded = false;
  load.mockImplementation(async (_use, signal) => {
    if (!signal.aborted) await once(signal, "abort");
    isEnded = true;
    throw new StoreUnavailable("of the test");
  });
  const running = follower.run();
  await until("it loads", () => load.mock.calls.length > 0);
  end.abort();
  wake();
  await running;
  expect([isEnded, events]).toEqual([true, []]);
});

test("a follower of an empty log has no state, until there is one", async () => {
  const { writer, follower } = setup();
  await follower.refresh();
  expect(() => follower.read(() => "read")).toThrow(NotReady);
  expect([follower.status.offset, follower.changes.position]).toEqual([undefined, undefined]);
  await writer.replace([], 0);
  await follower.refresh();
  expect(follower.read(({ offset }) => offset)).toBe(0);
});

test("the feed has the tags of all updates of a step, and begins again at a reload", async () => {
  const { writer, follower } = setup();
  const seen: (number | undefined)[] = [];
  follower.changes.subscribe(() => seen.push(follower.read(({ offset }) => offset)));
  await writer.replace([fruit("a"), fruit("u", { template: pear })], 5);
  await follower.refresh();
  await writer.apply([active("b", { labels: ["green"] })], 6, undefined, "6");
  await writer.apply([archive("b"), archive("u")], 7, undefined, "7");
  await writer.apply([{ active: counted("c", 5n) }], 8, undefined, "8");
  await follower.refresh();
  const tags = [
    ...["a", "b", "u"].map(idHash),
    ...["red", "green"].map((label) => indexKeyHash(byLabel(label))),
    ...[apple, pear].map(templateHash),
    registrarHash(GROWER),
    sumHash("USD"),
  ].map(tagOf);
  const [change, ...more] = follower.changes.since(at(5)) ?? [];
  expect([change?.offset, more]).toEqual([8, []]);
  expect(tags.filter((tag) => change?.tags.has(tag) !== true)).toEqual([tagOf(idHash("a"))]);
  // A client that another follower has brought to an update within the step.
  expect(follower.changes.since(at(6))).toEqual([change]);
  expect([follower.changes.since(at(8)), follower.changes.since(at(4))]).toEqual([[], undefined]);
  await writer.replace([fruit("a")], 8);
  await follower.refresh();
  expect([follower.changes.since(at(8)), follower.changes.since(at(8, "2"))]).toEqual([undefined, []]);
  expect(seen).toEqual([5, 8, 8]);
});

test.each([
  ["adds to a sum that has a name", [], { active: named("c") }],
  ["was all of it, and is archived", [named("c")], { archived: "c" }],
] as const)("a contract that is only counted and %s changes the names of its group", async (_what, given, change) => {
  const log = new ArrayLog();
  const follower = follow(log);
  const writer = log.begin();
  await writer.replace(given, 5);
  await follower.refresh();
  const before = follower.changes.position;
  await writer.apply([change], 6);
  await follower.refresh();
  const [step] = (before && follower.changes.since(before)) ?? [];
  expect([...(step?.tags ?? [])]).toContain(tagOf(tallyHash("cherries")));
});

describe("a heap", () => {
  const MIB = 2 ** 20;
  const many = (count: number) => Array.from({ length: count }, (_, index) => fruit(`n${index}`, { labels: [] }));

  /** What a contract takes of the heap. */
  const CONTRACT = 350;

  /** A follower whose heap has so many bytes, of which 10 MiB are used before anything is loaded. */
  async function limited(limit: number) {
    const log = new ArrayLog();
    const heap = { limit, used: 10 * MIB, garbage: 0, loading: 0 };
    const load: StateLog["load"] = ArrayLog.prototype.load.bind(log);
    async function* growing(contracts: LoggedState["contracts"]) {
      for await (const one of contracts) {
        heap.loading += CONTRACT;
        yield one;
      }
    }
    const loads = vi.spyOn(log, "load").mockImplementation((use, ...args) => {
      heap.loading = 0;
      return load(
        async (state) => {
          const used = await use(state && { ...state, contracts: growing(state.contracts) });
          heap.used += heap.loading;
          return used;
        },
        ...args,
      ).finally(() => (heap.loading = 0));
    });
    const said: string[] = [];
    const seen: StateTooLarge[] = [];
    let now = 0;
    const follower = follow(log, {
      clock: () => now,
      heap: {
        used: () => heap.used + heap.garbage + heap.loading,
        limit: () => heap.limit,
        collect: async () => void (heap.garbage = 0),
      },
      onTooLarge: (error) => void seen.push(error),
      onNearlyFull: (share) => void said.push(share.toFixed(2)),
    });
    const pass = (ms: number) => (now += ms);
    const size = () => follower.read((view) => view.all(apple).length);
    return { log, writer: log.begin(), follower, heap, loads, said, seen, pass, size };
  }

  test("without room for the first state says what is needed, and what to set", async () => {
    const { writer, follower, seen } = await limited(15 * MIB);
    await writer.replace(many(20_000), 5);
    await expect(follower.refresh()).rejects.toThrow(StateTooLarge);
    const [error, ...more] = seen;
    const [, contracts, needed = "", room, wanted = ""] =
      /^the (\S+) contracts of the database need (\S+) MiB of the heap, which has room for (\S+) MiB: set NODE_OPTIONS=--max-old-space-size=(\d+)$/.exec(
        error?.reason ?? "",
      ) ?? [];
    expect([contracts, room, more]).toEqual(["20,000", "1", []]);
    expect(() => follower.read(() => "read")).toThrow(NotReady);
    expect(follower.heapShare).toBeGreaterThan(1);
    // It fits what is named, and is more than half of it.
    const other = await limited(Number(wanted) * MIB);
    await other.writer.replace(many(20_000), 5);
    await other.follower.refresh();
    expect([other.size(), other.seen, Number(needed) > 3]).toEqual([20_000, [], true]);
    const tooSmall = await limited((Number(wanted) * MIB) / 3);
    await tooSmall.writer.replace(many(20_000), 5);
    await expect(tooSmall.follower.refresh()).rejects.toThrow(StateTooLarge);
  });

  test("without room for another state keeps the one that it has, and looks again after a minute", async () => {
    const { log, writer, follower, heap, loads, seen, pass, size } = await limited(100 * MIB);
    await writer.replace(many(1_000), 5);
    await follower.refresh();
    heap.limit = 19 * MIB;
    await log.begin("another ledger").replace(many(20_000), 6);
    loads.mockClear();
    for (let poll = 0; poll < 3; poll++) await expect(follower.refresh()).rejects.toThrow(StateTooLarge);
    expect([size(), follower.status.offset, seen.length, loads.mock.calls.length]).toEqual([1_000, 5, 1, 1]);
    expect(follower.status).toMatchObject({ failure: seen[0] });
    expect(follower.heapShare).toBeGreaterThan(1);
    heap.limit = 100 * MIB;
    pass(60_000);
    await follower.refresh();
    expect([size(), follower.status.offset, seen.length]).toEqual([20_000, 6, 1]);
    expect(follower.heapShare).toBeLessThan(0.5);
  });

  test("has room for a second state of the same contracts where it has none for two", async () => {
    const { writer, follower, seen, size } = await limited(31 * MIB);
    await writer.replace(many(20_000), 5);
    await follower.refresh();
    await writer.replace(many(20_001), 6);
    await follower.refresh();
    expect([size(), seen]).toEqual([20_001, []]);
  });

  test("without room for a second state of other contracts", async () => {
    const { writer, follower, size } = await limited(31 * MIB);
    await writer.replace(many(20_000), 5);
    await follower.refresh();
    const renamed = many(20_000).map((one) => Object.assign(one, { fields: { ...one.fields, name: "another" } }));
    await writer.replace(renamed, 6);
    await expect(follower.refresh()).rejects.toThrow(StateTooLarge);
    expect(size()).toBe(20_000);
  });

  test("that garbage fills has room once it is collected", async () => {
    const { writer, follower, heap, size } = await limited(37 * MIB);
    await writer.replace(many(20_000), 5);
    heap.garbage = 19 * MIB;
    await follower.refresh();
    expect(size()).toBe(20_000);
  });

  test("that grows beyond four fifths is told once", async () => {
    const { writer, follower, said } = await limited(28 * MIB);
    await writer.replace(many(10_000), 5);
    await follower.refresh();
    expect(said).toEqual([]);
    const grow = async (from: number, offset: number) => {
      const more = Array.from({ length: 8_000 }, (_, index) => active(`n${from + index}`, { labels: [] }));
      await writer.apply(more, offset, undefined, `update-${offset}`);
      await follower.refresh();
    };
    await grow(10_000, 6);
    const before = said.length;
    await grow(18_000, 7);
    await grow(26_000, 8);
    expect([before, said.length]).toEqual([0, 1]);
    expect(follower.heapShare).toBeGreaterThan(0.8);
  });
});

describe("the age", () => {
  /** A log and a follower with clocks of their own, and a mirror that says that it is current. */
  async function aging() {
    const clocks = { log: Date.UTC(2026, 0, 5), follower: 5_000 };
    const log = new ArrayLog({ now: () => clocks.log });
    const follower = follow(log, { clock: () => clocks.follower });
    const writer = log.begin();
    await writer.replace([fruit("a")], 5);
    const pass = (ms: number) => {
      clocks.log += ms;
      clocks.follower += ms;
    };
    const live = async (seconds: number, mirror = writer) => {
      for (let second = 0; second < seconds; second++) {
        await mirror.heartbeat(0);
        pass(500);
        await follower.refresh();
        pass(500);
      }
    };
    await live(3);
    return { log, follower, writer, pass, live, clocks };
  }

  test("of a state that is loaded from a restored log is that of the backup", async () => {
    const { log, follower, writer, live, pass } = await aging();
    const backup = log.backup();
    await writer.apply([active("b")], 6, undefined, "update-6");
    await live(60);
    expect(follower.status.age).toBeLessThan(3_000);
    log.restore(backup);
    const next = log.begin();
    // The mirror that goes on there does not know its age yet.
    await next.heartbeat(undefined);
    await follower.refresh();
    expect(follower.status.offset).toBe(5);
    expect(follower.status.age).toBeGreaterThan(60_000);
    pass(1_000);
    await next.apply([active("b")], 6, undefined, "update-6");
    await live(2, next);
    expect(follower.status.age).toBeLessThan(3_000);
  });

  test("of the next generation is known at once", async () => {
    const { follower, writer, live } = await aging();
    for (let generation = 0; generation < 5; generation++) {
      await writer.replace([fruit("b")], 4 + generation);
      await follower.refresh();
      expect(follower.status.age).toBeLessThan(3_000);
      await live(1);
    }
  });

  test("of the next generation is not younger after the clock of the log was set back", async () => {
    const { follower, writer, live, clocks } = await aging();
    clocks.log -= 3_600_000;
    await writer.replace([fruit("b")], 4);
    await follower.refresh();
    expect(follower.status.age ?? Infinity).toBeGreaterThanOrEqual(1_000);
    await live(2);
    expect(follower.status.age).toBeLessThan(3_000);
  });
});

describe("catch-up", () => {
  /** A follower that runs, and what it makes of a request. */
  async function running() {
    const context = setup();
    await context.writer.replace([fruit("a")], 5);
    const ended = context.follower.run();
    await until("it follows", () => context.follower.status.offset === 5);
    onTestFinished(async () => {
      context.end.abort();
      context.wake();
      await ended;
    });
    const ask = async (timeoutMs = MAX_WAIT_MS) => {
      const progress: string[] = [];
      for await (const one of context.follower.catchUp(timeoutMs)) progress.push(`${one} ${context.ids().join(" ")}`);
      return progress;
    };
    return { ...context, ask };
  }

  test("ends when the mirror has committed, and requests at once share one", async () => {
    const { log, writer, ask, pauses } = await running();
    const requests: string[] = [];
    log.onCatchUpRequest = async (id) => {
      requests.push(id);
      await writer.apply([active("b")], 6, undefined, "update-6");
      await log.caughtUp(id);
    };
    const pausing = pauses.length;
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => ask()));
    for (const progress of [first, ...others]) expect(progress?.at(-1)).toBe("reached a b");
    expect(requests.length).toBeLessThanOrEqual(2);
    // Each would listen to the signal of the process until its time is over.
    expect(pauses).toHaveLength(pausing);
  });

  test("tells of each move until then", async () => {
    const { log, writer, ask } = await running();
    let finish: () => void = () => undefined;
    log.onCatchUpRequest = (id) => {
      finish = () => void log.caughtUp(id);
      void writer.apply([active("b")], 6, undefined, "update-6");
    };
    const progress: string[] = [];
    const asking = ask().then((all) => progress.push(...all));
    await until("the follower has moved", () => log.latest?.offset === 6);
    finish();
    await asking;
    expect(progress).toEqual(["advanced a b", "reached a b"]);
  });

  test("gives up after its time, and if the log is away", async () => {
    const { log, failing, ask } = await running();
    let asked = 0;
    log.onCatchUpRequest = () => asked++;
    expect([await ask(20), asked]).toEqual([[], 1]);
    failing.after = 0;
    expect(await ask()).toEqual([]);
  });

  test("gives up after its time while what the mirror has committed is read", async () => {
    const { log, ask } = await running();
    const reading = gate();
    onTestFinished(() => reading.open());
    log.onCatchUpRequest = (id) => {
      const read = log.progress.bind(log);
      vi.spyOn(log, "progress").mockImplementation(async (since) => {
        await reading.opened;
        return read(since);
      });
      void log.caughtUp(id);
    };
    expect(await within(SOON_MS, "it has given up", ask(20))).toEqual([]);
  });

  test("is not ended by a notice for another follower, or one that names no request", async () => {
    const { log, ask } = await running();
    log.onCatchUpRequest = (id) => {
      const [follower = "", request] = id.split(" ");
      for (const notice of [follower, `another ${request}`, `${follower} none`, ""]) void log.caughtUp(notice);
    };
    expect(await ask(20)).toEqual([]);
  });

  test("leaves nothing behind while the follower does not move", async () => {
    const { log, ask } = await running();
    log.onCatchUpRequest = (id) => void log.caughtUp(id);
    const heapAfter = async (requests: number) => {
      for (let asked = 0; asked < requests; asked += 250) await Promise.all(Array.from({ length: 250 }, () => ask()));
      await processHeap.collect();
      return processHeap.used();
    };
    const before = await heapAfter(1_000);
    expect(((await heapAfter(10_000)) - before) / 10_000).toBeLessThan(200);
  });

  test("does not end if what the mirror has committed cannot be read", async () => {
    const { log, failing, ask, events } = await running();
    log.onCatchUpRequest = async (id) => {
      await log.caughtUp(id);
      failing.after = 0;
    };
    expect(await ask()).toEqual([]);
    expect(events).toEqual(["lost: StoreUnavailable: of the test"]);
  });
});
