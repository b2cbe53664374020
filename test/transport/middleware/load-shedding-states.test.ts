/** When an overload begins and ends, on a fake clock. With 250 ms a burst may wait 250 ms, an overload 2.5 ms; a tick of 50 ms is short. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Shedding } from "../../../src/transport/middleware/load-shedding.js";

const MAX_DELAY_MS = 250;

let clock = 0;
let tickEnds: (() => void)[] = [];

beforeEach(() => {
  clock = 1_000;
  tickEnds = [];
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  vi.stubGlobal("setImmediate", (onTickEnd: () => void) => tickEnds.push(onTickEnd));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface Tick {
  readonly shed: number;
  /** How long the accepted requests waited. */
  readonly waitsMs: readonly number[];
}

function endTick(): void {
  for (const onTickEnd of tickEnds.splice(0)) onTickEnd();
}

/** Runs ticks of `count` requests that take `workMs` each, one after another, for `durationMs`. */
function runTicks(shedding: Shedding, count: number, workMs: number, durationMs: number): Tick[] {
  const ticks: Tick[] = [];
  for (const end = clock + durationMs; clock < end;) {
    const start = clock;
    let shed = 0;
    const waitsMs: number[] = [];
    for (let request = 0; request < count; request++) {
      if (shedding.overloadError() === undefined) {
        waitsMs.push(clock - start);
        clock += workMs;
      } else shed++;
    }
    endTick();
    ticks.push({ shed, waitsMs });
  }
  return ticks;
}

const shedIn = (ticks: readonly Tick[]): number[] => ticks.map(({ shed }) => shed);
const longestWait = (ticks: readonly Tick[]): number => Math.max(...ticks.flatMap(({ waitsMs }) => waitsMs));

test("a burst waits up to the maximum delay", () => {
  expect(shedIn(runTicks(new Shedding(MAX_DELAY_MS), 250, 1, 250))).toEqual([0]);
  // The 252nd has waited for 251 ms.
  expect(shedIn(runTicks(new Shedding(MAX_DELAY_MS), 300, 1, 250))).toEqual([49]);
});

test("short ticks are no overload, however many follow each other", () => {
  expect(new Set(shedIn(runTicks(new Shedding(MAX_DELAY_MS), 50, 1, 60_000)))).toEqual(new Set([0]));
});

test("after a second of longer ticks a hundredth of the maximum delay is allowed", () => {
  const shed = shedIn(runTicks(new Shedding(MAX_DELAY_MS), 51, 1, 3_000));
  // 20 ticks of 51 ms take more than a second. From then on 3 requests start within 2.5 ms.
  expect(shed.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
  expect(new Set(shed.slice(21))).toEqual(new Set([48]));
});

test("in an overload accepted requests wait for a fraction of the time", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  expect(longestWait(runTicks(shedding, 300, 1, 1_000))).toBe(250);
  // The tick in which the overload is detected may still be long.
  runTicks(shedding, 300, 1, 250);
  const overload = runTicks(shedding, 300, 1, 3_000);
  expect(longestWait(overload)).toBe(2);
  expect(overload.every(({ waitsMs }) => waitsMs.length > 0)).toBe(true);
});

test("requests one after another are never shed, however long each takes and for however long", () => {
  // The service checks twice: when the head has arrived, and when the body has.
  const shedding = new Shedding(MAX_DELAY_MS);
  for (let request = 0; request < 1_000; request++) {
    expect([shedding.overloadError(), shedding.overloadError()]).toEqual([undefined, undefined]);
    clock += 300;
    endTick();
  }
});

test("an overload lasts while more than one request in twenty is shed", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  runTicks(shedding, 300, 1, 2_000);
  // One of 4 in each tick.
  expect(shedIn(runTicks(shedding, 4, 1, 10_000)).at(-1)).toBe(1);
  runTicks(shedding, 3, 1, 1_500);
  expect(shedIn(runTicks(shedding, 100, 1, 100))).toEqual([0]);
});

test("a pause ends an overload at once", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  runTicks(shedding, 300, 1, 2_000);
  clock += 51;
  expect(shedIn(runTicks(shedding, 100, 1, 100))).toEqual([0]);
});

test("a shed request does not count against the next tick", () => {
  const shedding = new Shedding(MAX_DELAY_MS);
  runTicks(shedding, 300, 1, 2_000);
  expect(shedding.overloadError()).toBeUndefined();
  clock += 3;
  expect(shedding.overloadError()).toMatchObject({ code: 14 });
  endTick();
  expect(shedding.overloadError()).toBeUndefined();
});

test("0 turns shedding off", () => {
  expect(new Set(shedIn(runTicks(new Shedding(0), 1_000, 1, 5_000)))).toEqual(new Set([0]));
});
