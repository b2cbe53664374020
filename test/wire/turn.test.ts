import { setImmediate as turnEnd } from "node:timers/promises";
import { expect, test } from "vitest";
import { behindReading, giveOverdue, whenTurnEnds } from "../../src/wire/turn.js";

test("what is read in a turn is answered at its end, in its order, and then it is over", async () => {
  const seen: string[] = [];
  whenTurnEnds(() => seen.push("over"));
  behindReading(() => seen.push("first"));
  behindReading(() => seen.push("second"));
  expect(seen).toEqual([]);
  await turnEnd();
  expect(seen).toEqual(["first", "second", "over"]);
  behindReading(() => seen.push("of the next turn"));
  await turnEnd();
  expect(seen.slice(3)).toEqual(["of the next turn"]);
});

test("sixteen answers wait at most", async () => {
  const seen: number[] = [];
  for (let index = 0; index < 40; index++) {
    behindReading(() => seen.push(index));
    expect(seen.length).toBe(index + 1 - ((index + 1) % 16));
  }
  await turnEnd();
  expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test("an answer that makes another does not wait for it", async () => {
  const seen: string[] = [];
  behindReading(() => {
    behindReading(() => seen.push("inner"));
    seen.push("outer");
  });
  await turnEnd();
  expect(seen).toEqual(["outer"]);
  await turnEnd();
  expect(seen).toEqual(["outer", "inner"]);
});

test("who waits for a millisecond is answered before what comes then", async () => {
  const seen: string[] = [];
  behindReading(() => seen.push("waits"));
  giveOverdue(performance.now());
  expect(seen).toEqual([]);
  giveOverdue(performance.now() + 1.1);
  expect(seen).toEqual(["waits"]);
  behindReading(() => seen.push("waits anew"));
  giveOverdue(performance.now());
  expect(seen).toEqual(["waits"]);
  await turnEnd();
});
