/** The clock of a cache: monotonic, and right after a computer has slept. */
import { afterEach, expect, test, vi } from "vitest";
import { createClock } from "../../../packages/client/src/cache/clock.js";

afterEach(() => vi.restoreAllMocks());

/** A sleeping computer cannot be tested: sets what the two clocks of the system show after it. */
function setClocks(monotonic: number, wall: number): void {
  vi.spyOn(performance, "now").mockReturnValue(monotonic);
  vi.spyOn(Date, "now").mockReturnValue(wall);
}

test.each([
  ["both clocks go on", [1_500, 1_000_500], 500],
  ["the wall clock has gone ahead in sleep", [1_100, 1_060_100], 60_100],
  ["the wall clock was set back", [1_100, 940_000], 100],
])("%s", (_what, [monotonic = 0, wall = 0], elapsed) => {
  setClocks(1_000, 1_000_000);
  const clock = createClock();
  const before = clock();
  setClocks(monotonic, wall);
  expect(clock() - before).toBeCloseTo(elapsed, 6);
  expect(clock() - before).toBeCloseTo(elapsed, 6);
});

test("small steps of the wall clock do not add up", () => {
  setClocks(0, 0);
  const clock = createClock();
  const before = clock();
  for (let tick = 1; tick <= 10_000; tick++) {
    // The wall clock is rounded to milliseconds.
    setClocks(tick / 10, Math.round(tick / 10));
    clock();
  }
  expect(clock() - before).toBeCloseTo(1_000, 6);
});
