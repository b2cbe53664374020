/** Updates that are available at the same time are written together. */
import { EventEmitter, once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inBatches } from "../../../src/ingest/applier.js";

/** Gives the items of each group at once, and waits for some turns of the event loop between two groups. */
async function* inGroups(...groups: readonly (readonly number[])[]): AsyncGenerator<number> {
  for (const group of groups) {
    yield* group;
    for (let turns = 0; turns < 3; turns++) await turn();
  }
}

test.each([
  [[[1, 2, 3], [4], [5, 6]], 100, [[1, 2, 3], [4], [5, 6]]],
  [[[1, 2, 3, 4, 5]], 2, [[1, 2], [3, 4], [5]]],
  [[], 5, []],
])("%j are batches of at most %d: %j", async (groups, max, expected) => {
  const batches: (readonly number[])[] = [];
  for await (const batch of inBatches(inGroups(...groups), max)) batches.push(batch);
  expect(batches).toEqual(expected);
});

test("an error comes after all earlier items, and is handled if nobody reads on", async () => {
  const cut = new EventEmitter();
  async function* failing() {
    yield 1;
    yield 2;
    await once(cut, "never");
  }
  const seen: number[] = [];
  const reading = (async () => {
    for await (const batch of inBatches(failing(), 10)) seen.push(...batch);
  })();
  for await (const batch of inBatches(failing(), 10)) {
    expect(batch).toEqual([1, 2]);
    break;
  }
  // An unhandled rejection would fail the run.
  cut.emit("error", new Error("the connection was cut"));
  await expect(reading).rejects.toThrow("the connection was cut");
  await turn();
  expect(seen).toEqual([1, 2]);
});
