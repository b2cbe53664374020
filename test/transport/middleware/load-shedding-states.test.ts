/** When an overload begins and ends, by a clock that is set by hand: 250 ms for a burst, 5 ms in an overload. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Shedding } from "../../../src/transport/middleware/load-shedding.js";

const MAX_DELAY_MS = 250;

let clock = 0;
let ends: (() => void)[] = [];

beforeEach(() => {
  clock = 1_000;
  ends = [];
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  vi.stubGlobal("setImmediate", (end: () => void) => ends.push(end));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Turns of the event loop with `count` requests of `eachMs` of work, one behind the other for `forMs`. Gives how many were refused in each. */
function turns(shedding: Shedding, count: number, eachMs: number, forMs: number): number[] {
  const refused: number[] = [];
  for (const until = clock + forMs; clock < until;) {
    let inThis = 0;
    for (let request = 0; request < count; request++) {
      if (shedding.refusal() === undefined) clock += eachMs;
      else inThis++;
    }
    for (const end of ends.splice(0)) end();
    refused.push(inThis);
  }
  return refused;
}

test("a burst is worked off up to the longest delay", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  expect(turns(shedding, 250, 1, 250)).toEqual([0]);
  // The 252nd has waited for 251 ms.
  expect(turns(new Shedding(MAX_DELAY_MS), 300, 1, 250)).toEqual([49]);
});

test("turns up to a fifth of it are no overload, however long they follow each other", () => {
  expect(turns(new Shedding(MAX_DELAY_MS), 50, 1, 60_000).every((refused) => refused === 0)).toBe(true);
});

test("longer ones are, after a second: a fiftieth is left", () => {
  const refused = turns(new Shedding(MAX_DELAY_MS), 51, 1, 3_000);
  // 20 turns of 51 ms are a second and more; in the next 6 are answered, which come until 5 ms are over.
  expect(refused.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
  expect(new Set(refused.slice(21))).toEqual(new Set([45]));
});

test("an overload goes on while more than one in twenty is refused, and ends when it is less", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  turns(shedding, 300, 1, 2_000);
  // 6 of 7 in each turn.
  expect(turns(shedding, 7, 1, 10_000).at(-1)).toBe(1);
  turns(shedding, 6, 1, 1_500);
  expect(turns(shedding, 100, 1, 100)).toEqual([0]);
});

test("a time without requests ends it at once", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  turns(shedding, 300, 1, 2_000);
  clock += 51;
  expect(turns(shedding, 100, 1, 100)).toEqual([0]);
});

test("who is refused costs the next turn nothing", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  turns(shedding, 300, 1, 2_000);
  expect(shedding.refusal()).toBeUndefined();
  clock += 6;
  expect(shedding.refusal()).toMatchObject({ code: 14 });
  for (const end of ends.splice(0)) end();
  expect(shedding.refusal()).toBeUndefined();
});

test("0 refuses nobody", () => {
  expect(turns(new Shedding(0), 1_000, 1, 5_000).every((refused) => refused === 0)).toBe(true);
});
