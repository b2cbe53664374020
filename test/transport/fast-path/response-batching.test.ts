import { setImmediate as turnEnd } from "node:timers/promises";
import { expect, test } from "vitest";
import { enqueue, flushOverdue, onTickEnd } from "../../../src/transport/fast-path/response-batching.js";

test("what is read in a turn is answered at its end, in its order, and then it is over", async () => {
  const seen: string[] = [];
  onTickEnd(() => seen.push("over"));
  enqueue(() => seen.push("first"));
  enqueue(() => seen.push("second"));
  expect(seen).toEqual([]);
  await turnEnd();
  expect(seen).toEqual(["first", "second", "over"]);
  enqueue(() => seen.push("of the next turn"));
  await turnEnd();
  expect(seen.slice(3)).toEqual(["of the next turn"]);
});

test("sixteen answers wait at most", async () => {
  const seen: number[] = [];
  for (let index = 0; index < 40; index++) {
    enqueue(() => seen.push(index));
    expect(seen.length).toBe(index + 1 - ((index + 1) % 16));
  }
  await turnEnd();
  expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test("an answer that makes another does not wait for it", async () => {
  const seen: string[] = [];
  enqueue(() => {
    enqueue(() => seen.push("inner"));
    seen.push("outer");
  });
  await turnEnd();
  expect(seen).toEqual(["outer"]);
  await turnEnd();
  expect(seen).toEqual(["outer", "inner"]);
});

test("who waits for a millisecond is answered before what comes then", async () => {
  const seen: string[] = [];
  enqueue(() => seen.push("waits"));
  flushOverdue(performance.now());
  expect(seen).toEqual([]);
  flushOverdue(performance.now() + 1.1);
  expect(seen).toEqual(["waits"]);
  enqueue(() => seen.push("waits anew"));
  flushOverdue(performance.now());
  expect(seen).toEqual(["waits"]);
  await turnEnd();
});
