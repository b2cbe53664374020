/** When the poll of the ledger's end counts the store of a quiet ledger as current. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { LagTracker } from "../../../src/ingest/mirror/lag-tracker.js";
import { LedgerEndPoll } from "../../../src/ingest/mirror/ledger-end-poll.js";
import { StoreApplier } from "../../../src/ingest/mirror/store-applier.js";
import { Decoder } from "../../../src/ledger/decode.js";
import type { Ledger, UpdateStream } from "../../../src/ledger/participant/ledger.js";
import { gate } from "../../fixtures/wait.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const now = () => 1_000;

/** An open stream of a ledger on which nothing happens. */
const quietStream = (isResponsive = true): UpdateStream => ({
  hasEnded: false,
  isResponsive: () => Promise.resolve(isResponsive),
  close: () => undefined,
  async *[Symbol.asyncIterator]() {},
});

/** A store at offset 10 of a ledger that ends there. `poll` runs one poll. */
async function polling(ends: { end: number } = { end: 10 }) {
  const writer = new MemoryStore();
  await writer.replace([], 10, 0);
  const lag = new LagTracker({ unreadyAfter: 10, staleAfter: 20, readWait: 0 }, now, () => Promise.resolve(10));
  const applier = new StoreApplier({ ledger: { missing: [] }, decoder: new Decoder([]), writer, lag, log });
  const end = new AbortController();
  let resume: (() => void) | undefined;
  let polls = 0;
  const pause = () =>
    new Promise<void>((resolve) => {
      polls++;
      resume = resolve;
    });
  const ledger: Pick<Ledger, "ledgerEnd"> = { ledgerEnd: () => Promise.resolve(ends.end) };
  const running = new LedgerEndPoll(applier, { ledger: ledger as Ledger, lag, now, pause, signal: end.signal }).run();
  onTestFinished(async () => {
    end.abort();
    resume?.();
    await running;
  });
  const poll = async (): Promise<void> => {
    const before = polls;
    resume?.();
    while (polls === before) await turn();
  };
  return { applier, lag, poll };
}

test("the store is current once a stream has been open from one poll to the next", async () => {
  const { applier, lag, poll } = await polling();
  applier.follow(quietStream());
  await poll();
  expect(lag.status).toEqual({ offset: 10, ledgerEnd: 10, age: undefined });
  await poll();
  expect(lag.status).toEqual({ offset: 10, ledgerEnd: 10, age: 0 });
});

test("the store is not current while each poll finds another stream", async () => {
  const { applier, lag, poll } = await polling();
  for (let count = 0; count < 3; count++) {
    applier.follow(quietStream());
    await poll();
  }
  expect(lag.status.age).toBeUndefined();
});

test("the store is not current while no stream is followed, or the stream does not respond", async () => {
  const { applier, lag, poll } = await polling();
  await poll();
  await poll();
  expect(lag.status.age).toBeUndefined();
  applier.follow(quietStream(false));
  await poll();
  await poll();
  expect(lag.status.age).toBeUndefined();
});

test("the store is not current by an end that was read before the last ping", async () => {
  const { applier, lag, poll } = await polling();
  const pings: ((isAnswered: boolean) => void)[] = [];
  const stream = { ...quietStream(), isResponsive: () => new Promise<boolean>((resolve) => void pings.push(resolve)) };
  applier.follow(stream);
  await poll();
  await poll();
  expect(pings).toHaveLength(1);
  expect(lag.status.age).toBeUndefined();
  pings[0]?.(true);
  await turn();
  expect(lag.status.age).toBe(0);
});

test("a lower end is noticed while a ping is not answered", async () => {
  const ends = { end: 10 };
  const { applier, lag, poll } = await polling(ends);
  const answer = gate();
  applier.follow({ ...quietStream(), isResponsive: () => answer.opened.then(() => false) });
  onTestFinished(() => answer.open());
  await poll();
  await poll();
  ends.end = 9;
  lag.confirm(10, now());
  expect(lag.notReadyReason()).toBeUndefined();
  await poll();
  expect(lag.notReadyReason()).toBe("the ledger ends at offset 9, but offset 10 has been applied");
});
