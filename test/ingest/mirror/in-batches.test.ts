/** Items that are available at the same time form a batch. */
import { EventEmitter, once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inBatches } from "../../../src/ingest/applier.js";

/** Gives the items of each group at once, and waits for a turn of the event loop between two groups. */
async function* inGroups(...groups: readonly (readonly number[])[]): AsyncGenerator<number> {
  for (const group of groups) {
    yield* group;
    for (let turns = 0; turns < 3; turns++) await turn();
  }
}

async function collected(items: AsyncIterable<number>, max: number): Promise<(readonly number[])[]> {
  const all: (readonly number[])[] = [];
  for await (const batch of inBatches(items, max)) all.push(batch);
  return all;
}

test("simultaneous items are one batch, later items another", async () => {
  expect(await collected(inGroups([1, 2, 3], [4], [5, 6]), 100)).toEqual([[1, 2, 3], [4], [5, 6]]);
});

test("no batch exceeds the maximum", async () => {
  expect(await collected(inGroups([1, 2, 3, 4, 5]), 2)).toEqual([[1, 2], [3, 4], [5]]);
});

test("no items give no batch", async () => {
  expect(await collected(inGroups(), 5)).toEqual([]);
});

test("the event loop runs between two batches", async () => {
  const end = new AbortController();
  const counting = (async () => {
    let turns = 0;
    for (; !end.signal.aborted; turns++) await turn();
    return turns;
  })();
  await collected(inGroups(Array.from({ length: 1_000 }, (_, index) => index)), 10);
  end.abort();
  expect(await counting).toBeGreaterThan(90);
});

async function* failing() {
  yield 1;
  yield 2;
  throw new Error("no more");
}

test("an error is thrown after all earlier items", async () => {
  const seen: number[] = [];
  const reading = async () => {
    for await (const batch of inBatches(failing(), 10)) seen.push(...batch);
  };
  await expect(reading()).rejects.toThrow("no more");
  expect(seen).toEqual([1, 2]);
});

test("leaving does not wait for pending items, and their rejection is handled", async () => {
  const cut = new EventEmitter();
  async function* waiting() {
    yield 1;
    await once(cut, "never");
  }
  for await (const batch of inBatches(waiting(), 10)) {
    expect(batch).toEqual([1]);
    break;
  }
  cut.emit("error", new Error("the connection was cut"));
  // An unhandled rejection would fail the run.
  await turn();
});
