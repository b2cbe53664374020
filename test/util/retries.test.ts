import { expect, test } from "vitest";
import { Retries } from "../../src/util/retries.js";

/** Attempts that last so many milliseconds each. Returns what was asked after each, and how long was paused. */
async function retried(lasted: readonly number[], delays: readonly (number | undefined)[] = []) {
  const end = new AbortController();
  let now = 0;
  const [asked, paused]: [[number, unknown][], number[]] = [[], []];
  const retries = new Retries({
    now: () => now,
    pause: async (ms) => {
      paused.push(ms);
    },
    signal: end.signal,
  });
  const durations = lasted.values();
  await retries.run(
    async () => {
      const { value, done } = durations.next();
      if (done === true) return end.abort();
      now += value;
      if (value < 0) retries.recovered();
      if (value % 2 === 1) throw new Error(`after ${value}`);
    },
    (failures, error) => {
      asked.push([failures, error instanceof Error ? error.message : error]);
      return asked.length > delays.length ? 1 : delays[asked.length - 1];
    },
  );
  return { asked, paused };
}

test("failures in a row are counted, whether the attempt throws or ends", async () => {
  const { asked, paused } = await retried([1, 2, 3]);
  expect(asked).toEqual([
    [1, "after 1"],
    [2, undefined],
    [3, "after 3"],
  ]);
  expect(paused).toEqual([1, 1, 1]);
});

test("an attempt that has lasted, or has recovered, begins a new row", async () => {
  expect((await retried([2, 30_002, 2, -2, 2])).asked.map(([failures]) => failures)).toEqual([1, 1, 2, 1, 2]);
});

test("what is tried again at once is not counted and not waited for", async () => {
  const { asked, paused } = await retried([2, 2, 2], [undefined, 5, undefined]);
  expect(asked.map(([failures]) => failures)).toEqual([1, 1, 2]);
  expect(paused).toEqual([5]);
});
