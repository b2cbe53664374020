import { expect, test } from "vitest";
import { boundedMemoize, memoizeLast } from "../../src/util/memoize.js";

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

test("computes once for calls that repeat, and again after another key", () => {
  const computed: number[] = [];
  const double = memoizeLast(({ value }: { readonly value: number }) => {
    computed.push(value);
    return value * 2;
  });
  const [one, two] = [{ value: 1 }, { value: 2 }];
  expect([double(one), double(one), double(two), double(two), double(one)]).toEqual([2, 2, 4, 4, 2]);
  expect(double({ value: 1 })).toBe(2);
  expect(computed).toEqual([1, 2, 1, 1]);
});

test("keeps an undefined result", () => {
  let calls = 0;
  const compute = memoizeLast(() => void calls++);
  const key = {};
  compute(key);
  compute(key);
  expect(calls).toBe(1);
});
