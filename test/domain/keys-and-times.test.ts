/** Index keys and times of the ledger. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLedgerTime } from "../../src/util/json.js";
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
    const lists = [["a", "b"], ["a/1:b"], ["ab"], ["ab", ""], ["", "ab"], ["a/1", "b"], ["1:a/1:b"], []];
    expect(new Set(lists.map((list) => indexKey("index", ...list))).size).toBe(lists.length);
    // Keys are composed of digits, colons and slashes.
    const unit = fc.constantFrom("/", ":", "1", "2", "a");
    const values = fc.array(fc.oneof(fc.string({ unit, maxLength: 6 }), fc.string({ unit: "binary" })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(indexKey("index", ...a) === indexKey("index", ...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a time of the ledger", () => {
  test.each([
    ["1970-01-01T00:00:00Z", 0],
    ["1970-01-01T00:00:00.000001Z", 1],
    ["2026-01-05T09:00:00Z", 1_767_603_600_000_000],
    ["2026-01-05T09:00:00.1Z", 1_767_603_600_100_000],
    ["2026-01-05T09:00:00.12Z", 1_767_603_600_120_000],
    ["2026-01-05T09:00:00.000456Z", 1_767_603_600_000_456],
    // Finer digits are cut, not rounded.
    ["2026-01-05T09:00:00.123456789Z", 1_767_603_600_123_456],
    ["2026-01-05T09:00:00.9999999Z", 1_767_603_600_999_999],
    ["2024-02-29T23:59:59Z", 1_709_251_199_000_000],
    ["1969-12-31T23:59:59Z", -1_000_000],
    ["1969-12-31T23:59:59.5Z", -500_000],
  ])("%s is %d microseconds", (time, expected) => {
    expect(parseLedgerTime(time)).toBe(expected);
  });

  test("is read to every microsecond", () => {
    const until2200 = 7_258_118_400_000_000;
    fc.assert(
      fc.property(fc.integer({ min: -until2200, max: until2200 }), (time) => {
        const millis = Math.floor(time / 1000);
        const digits = String(time - millis * 1000).padStart(3, "0");
        expect(parseLedgerTime(new Date(millis).toISOString().replace("Z", `${digits}Z`))).toBe(time);
      }),
    );
  });

  const day = "2026-01-05";
  const zones = ["", "z", "+00:00", "+01:00", ".Z", ",5Z", ".1234567890Z", "Z\n"].map(
    (zone) => `${day}T09:00:00${zone}`,
  );
  const dates = ["2026-1-5", "+002026-01-05", "2026-13-05", "2026-00-05", "2026-01-32"].map(
    (date) => `${date}T09:00:00Z`,
  );
  const hours = ["T09:00Z", " 09:00:00Z", "T25:00:00Z", "T09:60:00Z", "T09:00:60Z", ""].map((hour) => day + hour);
  test.each(["", "now", ` ${day}T09:00:00Z`, "1767603600", ...zones, ...dates, ...hours])("is not %j", (time) => {
    const message = `invalid time, expected a format like 2026-01-31T12:00:00.123456Z: ${time}`;
    expect(() => parseLedgerTime(time)).toThrow(new Error(message));
  });
});
