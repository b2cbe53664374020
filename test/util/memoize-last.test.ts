import { expect, test } from "vitest";
import { memoizeLast } from "../../src/util/memoize-last.js";

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
