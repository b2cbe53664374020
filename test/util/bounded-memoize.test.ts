import { expect, test } from "vitest";
import { boundedMemoize } from "../../src/util/bounded-memoize.js";

function countingMemoize() {
  const calls: string[] = [];
  const memoized = boundedMemoize((name) => {
    calls.push(name);
    return name.toUpperCase();
  });
  return { calls, memoized };
}

test("computes a name once", () => {
  const { calls, memoized } = countingMemoize();
  expect([memoized("a"), memoized("b"), memoized("a")]).toEqual(["A", "B", "A"]);
  expect(calls).toEqual(["a", "b"]);
});

test("does not keep long names, nor more names than the bound", () => {
  const { calls, memoized } = countingMemoize();
  const long = "n".repeat(301);
  memoized(long);
  memoized(long);
  expect(calls).toHaveLength(2);
  for (let index = 0; index < 10_000; index++) memoized(`name ${index}`);
  memoized("one more");
  memoized("one more");
  memoized("name 0");
  expect(calls).toHaveLength(2 + 10_000 + 2);
});
