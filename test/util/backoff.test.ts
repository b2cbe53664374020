import { expect, test } from "vitest";
import { backoffMs, withJitter } from "../../src/util/backoff.js";

test.each([
  [1, 100],
  [2, 200],
  [4, 800],
  [5, 1_000],
  [1_000_000, 1_000],
])("after %i failures the delay is %i ms", (failures, delay) => {
  expect(backoffMs(failures, { firstMs: 100, maxMs: 1_000 })).toBe(delay);
});

test("jitter keeps a delay in its upper half", () => {
  expect(withJitter(1_000, () => 0)).toBe(500);
  expect(withJitter(1_000, () => 1)).toBe(1_000);
});
