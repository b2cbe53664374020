import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexKey } from "../../src/domain/template.js";

describe("an index key", () => {
  test.each([
    [["index"], "index"],
    [["index", "a"], "index/1:a"],
    [["index", "", "a::1220"], "index/0:/7:a::1220"],
  ])("of %j is %s", ([index = "", ...values], made) => {
    expect(indexKey(index, ...values)).toBe(made);
  });

  test("is unique to its list of values", () => {
    // Keys are composed of digits, colons and slashes.
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom("/", ":", "1", "2", "a"), maxLength: 6 }),
      fc.string({ unit: "binary" }),
    );
    const values = fc.array(value, { maxLength: 4 });
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(indexKey("index", ...a) === indexKey("index", ...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 2_000 },
    );
  });

  test("distinguishes lists that look alike when joined", () => {
    const lists = [["a", "b"], ["a/1:b"], ["ab"], ["ab", ""], ["", "ab"], ["a/1", "b"], ["1:a/1:b"], []];
    expect(new Set(lists.map((list) => indexKey("index", ...list))).size).toBe(lists.length);
  });
});
