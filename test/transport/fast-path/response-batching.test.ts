import { setImmediate as tickEnd } from "node:timers/promises";
import { expect, test } from "vitest";
import { enqueue, flushOverdue, onTickEnd } from "../../../src/transport/fast-path/response-batching.js";

test("responses of a tick are sent at its end, in order, before the tick-end callbacks", async () => {
  const seen: string[] = [];
  onTickEnd(() => seen.push("tick end"));
  enqueue(() => seen.push("first"));
  enqueue(() => seen.push("second"));
  expect(seen).toEqual([]);
  await tickEnd();
  expect(seen).toEqual(["first", "second", "tick end"]);
  enqueue(() => seen.push("next tick"));
  await tickEnd();
  expect(seen.slice(3)).toEqual(["next tick"]);
});

test("at most sixteen responses wait", async () => {
  const seen: number[] = [];
  for (let index = 0; index < 40; index++) {
    enqueue(() => seen.push(index));
    expect(seen.length).toBe(index + 1 - ((index + 1) % 16));
  }
  await tickEnd();
  expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test("a response that enqueues another does not wait for it", async () => {
  const seen: string[] = [];
  enqueue(() => {
    enqueue(() => seen.push("inner"));
    seen.push("outer");
  });
  await tickEnd();
  expect(seen).toEqual(["outer"]);
  await tickEnd();
  expect(seen).toEqual(["outer", "inner"]);
});

test("a response that has waited for a millisecond is flushed before later work", async () => {
  const seen: string[] = [];
  // Times before and after `enqueue`, so that a pause of the process changes nothing.
  const before = performance.now();
  enqueue(() => seen.push("first"));
  flushOverdue(before);
  expect(seen).toEqual([]);
  flushOverdue(performance.now() + 1.1);
  expect(seen).toEqual(["first"]);
  enqueue(() => seen.push("second"));
  flushOverdue(before);
  expect(seen).toEqual(["first"]);
  await tickEnd();
});
