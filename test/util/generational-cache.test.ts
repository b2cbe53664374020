import { expect, test } from "vitest";
import { GenerationalCache } from "../../src/util/generational-cache.js";

const cacheOf = (size: number) => new GenerationalCache<string>(size, (value) => value);

test("a hit in the old generation keeps a value, the others are dropped", () => {
  const cache = cacheOf(2);
  for (const value of ["a", "b", "c"]) cache.add(value);
  expect(cache.get("a")).toBe("a");
  cache.add("d");
  expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual(["a", undefined, "c", "d"]);
});

test("holds at most two generations", () => {
  const cache = cacheOf(3);
  for (let value = 0; value < 100; value++) {
    cache.add(String(value));
    expect(cache.size).toBeLessThanOrEqual(6);
  }
});

test("delete removes a value from both generations", () => {
  const cache = cacheOf(1);
  cache.add("a");
  cache.add("b");
  expect(cache.get("a")).toBe("a");
  cache.delete("a");
  expect(cache.get("a")).toBeUndefined();
});
