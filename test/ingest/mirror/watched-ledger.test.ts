/** Calls and streams whose own timers are lost: each is abandoned in time, with one line in the log, and tried again. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LagTracker } from "../../../src/ingest/mirror/lag-tracker.js";
import { Mirror } from "../../../src/ingest/mirror/mirror.js";
import { watchedLedger } from "../../../src/ingest/mirror/watched-ledger.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import type { Ledger, UpdateStream } from "../../../src/ledger/participant/client.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";

const never = new Promise<never>(() => undefined);

/** Three times what a call may take, in milliseconds. */
const CALL_MS = 30_000;
/** Three times what the answer to a ping may take. */
const PING_MS = 60_000;

let lines: [object, string][];
const log = {
  info: () => undefined,
  warn: (details: object, message: string) => void lines.push([details, message]),
  error: () => undefined,
};

beforeEach(() => {
  lines = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => void vi.useRealTimers());

/** An open stream that brings nothing. */
const openStream = (more: Partial<UpdateStream> = {}): UpdateStream => ({
  hasEnded: false,
  isResponsive: () => Promise.resolve(true),
  close: () => undefined,
  [Symbol.asyncIterator]: () => ({ next: () => never }),
  ...more,
});

/** A ledger of which nothing ever settles, apart from what a test names. */
const hanging = (more: Partial<Ledger> = {}): Ledger => ({
  ledgerEnd: () => never,
  prunedUpTo: () => never,
  hasUpdate: () => never,
  findMissing: () => never,
  updates: () => never,
  activeContracts: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }),
  missing: [],
  leaveOut: () => false,
  include: () => undefined,
  ...more,
});

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const first = async (items: AsyncIterable<unknown>): Promise<unknown> => {
  for await (const item of items) return item;
  return "nothing";
};

describe("a call that never settles is abandoned", () => {
  test.each<[string, (ledger: Ledger) => Promise<unknown>, seconds: number]>([
    ["the poll of the ledger's end", (ledger) => ledger.ledgerEnd(), 30],
    ["the request for the pruned offset", (ledger) => ledger.prunedUpTo(), 30],
    ["the look-up of an update", (ledger) => ledger.hasUpdate("1220"), 30],
    ["the search for missing packages", (ledger) => ledger.findMissing(), 30],
    ["the opening of the stream of updates", (ledger) => ledger.updates(1), 30],
    ["the stream of active contracts", (ledger) => first(ledger.activeContracts(1)), 180],
  ])("%s", async (step, call, seconds) => {
    const outcome = outcomeOf(call(watchedLedger(hanging(), log)));
    await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject({ kind: "lost", message: `${step} has not moved for ${seconds} s` });
    expect(lines).toEqual([
      [{ step, waited: seconds * 1000 }, `${step} has not moved for ${seconds} s; it is started again`],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("and one that settles leaves no timer and no line", async () => {
    const refused = new LedgerError("denied", "no");
    const ledger = hanging({ ledgerEnd: () => Promise.resolve(7), prunedUpTo: () => Promise.reject(refused) });
    expect(await watchedLedger(ledger, log).ledgerEnd()).toBe(7);
    expect(await outcomeOf(watchedLedger(ledger, log).prunedUpTo())).toBe(refused);
    expect([vi.getTimerCount(), lines]).toEqual([0, []]);
  });

  test("and a stream that opens too late is closed", async () => {
    const close = vi.fn<() => void>();
    const late = new Promise<UpdateStream>((resolve) => setTimeout(resolve, CALL_MS + 5, openStream({ close })));
    const outcome = outcomeOf(watchedLedger(hanging({ updates: () => late }), log).updates(1));
    await vi.advanceTimersByTimeAsync(CALL_MS);
    expect(await outcome).toBeInstanceOf(LedgerError);
    expect(close).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(5);
    expect(close).toHaveBeenCalledTimes(1);
  });
});

const opened = (stream: UpdateStream, upTo?: number) =>
  watchedLedger(hanging({ updates: () => Promise.resolve(stream) }), log).updates(1, upTo);

describe("a stream of updates", () => {
  test("whose ping never settles is closed, and its messages end", async () => {
    const close = vi.fn<() => void>();
    const stream = await opened(openStream({ isResponsive: () => never, close }));
    const message = outcomeOf(first(stream));
    const responsive = stream.isResponsive();
    await vi.advanceTimersByTimeAsync(PING_MS);
    expect(await responsive).toBe(false);
    expect(await message).toMatchObject({ kind: "lost" });
    expect(stream.hasEnded).toBe(true);
    expect(close).toHaveBeenCalled();
    expect(lines).toEqual([
      [
        { step: "the stream of updates", waited: PING_MS },
        "the stream of updates has not moved for 60 s; it is started again",
      ],
    ]);
  });

  test("may be quiet for as long as it answers pings", async () => {
    const stream = await opened(openStream());
    let isOver = false;
    const message = outcomeOf(first(stream)).finally(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect([await stream.isResponsive(), isOver, lines]).toEqual([true, false, []]);
    stream.close();
    expect(await message).toMatchObject({ kind: "lost", message: "the stream of updates was closed" });
  });

  test("that is finite may not be quiet for long", async () => {
    const message = outcomeOf(first(await opened(openStream(), 9)));
    await vi.advanceTimersByTimeAsync(180_000);
    expect(await message).toMatchObject({ message: "the fetch of updates has not moved for 180 s" });
  });

  test("passes on its messages and its end", async () => {
    const failure = new LedgerError("pruned", "gone");
    const stream = openStream({
      // eslint-disable-next-line typescript/require-await
      async *[Symbol.asyncIterator]() {
        yield 1;
        yield 2;
        throw failure;
      },
    });
    const seen: unknown[] = [];
    const read = async () => {
      for await (const message of await opened(stream)) seen.push(message);
    };
    expect(await outcomeOf(read())).toBe(failure);
    expect(seen).toEqual([1, 2]);
  });
});

/** Runs a mirror of a ledger until `holds`, in virtual time. */
async function mirrored(ledger: Ledger, holds: (lag: LagTracker) => boolean): Promise<number> {
  const end = new AbortController();
  let now = 0;
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(done, milliseconds);
      end.signal.addEventListener("abort", done);
      function done(): void {
        clearTimeout(timer);
        end.signal.removeEventListener("abort", done);
        resolve();
      }
    });
  const watched = watchedLedger(ledger, log);
  // A real stream ends with the signal.
  const closing: Ledger = {
    ...watched,
    async updates(after, upTo) {
      const stream = await watched.updates(after, upTo);
      end.signal.addEventListener("abort", () => stream.close());
      return stream;
    },
  };
  const limits = { unreadyAfter: 1, staleAfter: 2 };
  const lag = new LagTracker(
    limits,
    () => now,
    () => watched.ledgerEnd(),
  );
  const parts = {
    decoder: new Decoder([]),
    writer: new MemoryStore(),
    lag,
    readWait: 0,
    log,
    random: () => 0.5,
    pause,
  };
  const running = new Mirror({ ...parts, ledger: closing, now: () => now, signal: end.signal }).run();
  for (; now < 600_000 && !holds(lag); now += 500) await vi.advanceTimersByTimeAsync(500);
  const isReached = holds(lag);
  end.abort();
  await vi.advanceTimersByTimeAsync(200_000);
  await running;
  expect(isReached).toBe(true);
  return now;
}

const steps = () => lines.map(([details]) => ("step" in details ? details.step : undefined)).filter(Boolean);
const nothing = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: null }) }),
} as const;

describe("the mirror goes on", () => {
  test("after a start on which the ledger's end, the stream and the snapshot hung, one after the other", async () => {
    let [ends, streams, snapshots] = [0, 0, 0];
    const took = await mirrored(
      hanging({
        ledgerEnd: () => (ends++ === 0 ? never : Promise.resolve(5)),
        updates: () => (streams++ === 0 ? never : Promise.resolve(openStream())),
        activeContracts: () => (snapshots++ === 0 ? hanging().activeContracts(5) : nothing),
      }),
      (lag) => lag.status.offset === 5,
    );
    expect(steps()).toEqual([
      "the poll of the ledger's end",
      "the opening of the stream of updates",
      "the stream of active contracts",
    ]);
    // 30, 30 and 180 seconds, and the pauses between the attempts.
    expect(took).toBeLessThan(250_000);
  });

  test("after a poll of the ledger's end that hung", async () => {
    let ends = 0;
    await mirrored(
      hanging({
        // The first is for the snapshot.
        ledgerEnd: () => (++ends === 3 ? never : Promise.resolve(5)),
        updates: () => Promise.resolve(openStream()),
        activeContracts: () => nothing,
      }),
      () => ends > 10,
    );
    expect(steps()).toEqual(["the poll of the ledger's end"]);
  });

  test("after a stream that no longer answered", async () => {
    let streams = 0;
    await mirrored(
      hanging({
        ledgerEnd: () => Promise.resolve(5),
        updates() {
          let pings = 0;
          const isFirst = ++streams === 1;
          const isResponsive = () => (isFirst && ++pings > 3 ? never : Promise.resolve(true));
          return Promise.resolve(openStream({ isResponsive }));
        },
        activeContracts: () => nothing,
      }),
      (lag) => lag.reconnects === 1 && streams === 2,
    );
    expect(steps()).toEqual(["the stream of updates"]);
  });
});
